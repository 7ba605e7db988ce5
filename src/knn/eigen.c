/* eigen.c - computes the eigenvectors of a symmetric matrix: Householder
 * reflections make it tridiagonal, then plane rotations make it diagonal.
 *
 * Notation: A = Q T Q^T, where T is tridiagonal with the diagonal d and the
 * elements e beside it (e[i] is at row i + 1, column i), and Q is orthogonal.
 * We keep the transpose of Q: its rows become the eigenvectors, and a rotation
 * combines two adjacent rows, which are contiguous in memory. */
#include "knn/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/invariant.h"

/* ---- tridiagonal form ---------------------------------------------------- */

static double dot_product(const double *x, const double *y, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Turn x [n] into the vector v of a reflection I - beta v v^T that maps x to a
 * multiple of the first unit vector. Returns that multiple. beta is 2 / v^T v,
 * or 0 if x has this form already. */
static double reflector(double *x, int n, double *beta)
{
    double most = 0, norm, first = x[0];

    *beta = 0;
    for (int i = 1; i < n; i++) most = fmax(most, fabs(x[i]));
    if (most == 0) return first;
    most = fmax(most, fabs(first));
    for (int i = 0; i < n; i++) x[i] /= most;   /* squares cannot overflow */
    norm = sqrt(dot_product(x, x, n));
    if (x[0] < 0) norm = -norm;
    x[0] += norm;
    *beta = 2 / dot_product(x, x, n);
    return -norm * most;
}

/* Replace the lower right part of a, m rows from row k on, by H A H, where H is
 * the reflection of v [m]. p [m] is scratch memory. */
static void reflect_both_sides(double *a, int n, int k, const double *v,
                               double beta, double *p)
{
    int m = n - k;
    double half;

    for (int i = 0; i < m; i++)
        p[i] = beta * dot_product(a + (size_t)(k + i) * (size_t)n + k, v, m);
    half = beta / 2 * dot_product(p, v, m);
    for (int i = 0; i < m; i++) p[i] -= half * v[i];
    for (int i = 0; i < m; i++) {
        double *row = a + (size_t)(k + i) * (size_t)n + k;

        for (int j = 0; j < m; j++) row[j] -= v[i] * p[j] + p[i] * v[j];
    }
}

/* Make a tridiagonal. Afterwards row i of a has, from column i + 1 on, the
 * vector of reflection i, and beta[i] its factor. p [n] is scratch memory. */
static void make_tridiagonal(double *a, int n, double *d, double *e,
                             double *beta, double *p)
{
    for (int i = 0; i < n; i++) {
        double *row = a + (size_t)i * (size_t)n;

        d[i] = row[i];
        if (i == n - 1) break;
        e[i] = reflector(row + i + 1, n - i - 1, &beta[i]);
        if (beta[i] != 0)
            reflect_both_sides(a, n, i + 1, row + i + 1, beta[i], p);
    }
}

/* Set q to the transpose of Q, the product of all reflections. */
static void join_reflections(const double *a, int n, const double *beta,
                             double *q)
{
    memset(q, 0, (size_t)n * (size_t)n * sizeof *q);
    for (int i = 0; i < n; i++) q[(size_t)i * (size_t)n + (size_t)i] = 1;
    for (int i = n - 2; i >= 0; i--) {
        const double *v = a + (size_t)i * (size_t)n + i + 1;
        int m = n - i - 1;

        for (int r = i + 1; beta[i] != 0 && r < n; r++) {
            double *row = q + (size_t)r * (size_t)n + i + 1;
            double f = beta[i] * dot_product(row, v, m);

            for (int j = 0; j < m; j++) row[j] -= f * v[j];
        }
    }
}

/* ---- diagonal form ------------------------------------------------------- */

/* Rows u and v become c u + s v and c v - s u. */
static void rotate_rows(double *u, double *v, int n, double c, double s)
{
    for (int i = 0; i < n; i++) {
        double x = u[i], y = v[i];

        u[i] = c * x + s * y;
        v[i] = c * y - s * x;
    }
}

/* The eigenvalue of the last two rows that is nearer to the last element. */
static double wilkinson_shift(const double *d, const double *e, int hi)
{
    double half = (d[hi - 1] - d[hi]) / 2, b = e[hi - 1];
    double root = hypot(half, b);

    return d[hi] - b * (b / (half + (half < 0 ? -root : root)));
}

/* One QR step on rows lo to hi of T, none of whose e is zero. */
static void qr_step(double *d, double *e, int lo, int hi, double *q, int n)
{
    double x = d[lo] - wilkinson_shift(d, e, hi), z = e[lo];

    for (int k = lo; k < hi; k++) {
        double r = hypot(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
        double a = d[k], b = e[k], g = d[k + 1];

        if (k > lo) e[k - 1] = r;
        d[k] = c * c * a + 2 * c * s * b + s * s * g;
        d[k + 1] = s * s * a - 2 * c * s * b + c * c * g;
        e[k] = c * s * (g - a) + (c * c - s * s) * b;
        if (k + 1 < hi) {
            x = e[k];
            z = s * e[k + 1];
            e[k + 1] = c * e[k + 1];
        }
        rotate_rows(q + (size_t)k * (size_t)n, q + (size_t)(k + 1) * (size_t)n,
                    n, c, s);
    }
}

/* Set the elements beside the diagonal to zero that rounding hides. `least`
 * covers a diagonal that is zero itself. */
static void drop_small(const double *d, double *e, int n, double least)
{
    for (int i = 0; i + 1 < n; i++)
        if (fabs(e[i]) <= DBL_EPSILON * (fabs(d[i]) + fabs(d[i + 1])) + least)
            e[i] = 0;
}

static double largest_element(const double *d, const double *e, int n)
{
    double most = 0;

    for (int i = 0; i < n; i++) most = fmax(most, fabs(d[i]));
    for (int i = 0; i + 1 < n; i++) most = fmax(most, fabs(e[i]));
    return most;
}

/* Make T diagonal. Each eigenvalue takes about two steps. The limit is only for
 * numbers that are not finite. */
static bool make_diagonal(double *d, double *e, int n, double *q)
{
    double least = DBL_EPSILON * DBL_EPSILON * largest_element(d, e, n);
    int hi = n - 1;

    for (int steps = 0; steps < 60 * n; steps++) {
        int lo;

        drop_small(d, e, n, least);
        while (hi > 0 && e[hi - 1] == 0) hi--;
        if (hi <= 0) return true;
        for (lo = hi - 1; lo > 0 && e[lo - 1] != 0; lo--) continue;
        qr_step(d, e, lo, hi, q, n);
    }
    return false;
}

/* ---- order and sign ------------------------------------------------------ */

static void swap_rows(double *u, double *v, int n)
{
    for (int i = 0; i < n; i++) {
        double x = u[i];

        u[i] = v[i];
        v[i] = x;
    }
}

static void sort_by_value(double *value, double *vector, int n)
{
    for (int i = 0; i < n; i++) {
        int best = i;

        for (int j = i + 1; j < n; j++)
            if (value[j] > value[best]) best = j;
        if (best == i) continue;
        swap_rows(value + i, value + best, 1);
        swap_rows(vector + (size_t)i * (size_t)n,
                  vector + (size_t)best * (size_t)n, n);
    }
}

static void fix_sign(double *v, int n)
{
    int most = 0;

    for (int i = 1; i < n; i++)
        if (fabs(v[i]) > fabs(v[most])) most = i;
    if (v[most] > 0) return;
    for (int i = 0; i < n; i++) v[i] = -v[i];
}

static bool matrix_is_finite(const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

bool eigen_symmetric(double *a, int n, double *value, double *vector,
                     double *scratch)
{
    double *e = scratch, *beta = scratch + n;

    assert(n > 0);
    if (!matrix_is_finite(a, (size_t)n * (size_t)n)) return false;
    make_tridiagonal(a, n, value, e, beta, vector);
    join_reflections(a, n, beta, vector);
    if (!make_diagonal(value, e, n, vector)) return false;
    sort_by_value(value, vector, n);
    for (int i = 0; i < n; i++) fix_sign(vector + (size_t)i * (size_t)n, n);
    return true;
}
