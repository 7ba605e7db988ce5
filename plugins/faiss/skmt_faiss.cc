/* skmt_faiss.cc - calls Faiss for IVF-PQ indexes: k-means, product codes, and
 * the search of inverted lists. src/knn/faiss_plugin.h is its interface.
 *
 * Centroids are compared by the caller, whose kernels give the same result for
 * a row in every batch; Faiss would use another algorithm for many rows than
 * for few. The lists are arrays of a mapped file, which Faiss reads in place.
 *
 * Every function that may throw runs inside guard(). */
#include "knn/faiss_plugin.h"

#include <omp.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/impl/FaissAssert.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/invlists/InvertedLists.h>

namespace {

using idx_t = decltype(faiss::Index::ntotal);
static_assert(sizeof(idx_t) == sizeof(int64_t), "ids have 64 bits");

struct canceled {};

/* One OpenMP thread as long as this exists. The number is a property of the
 * calling thread. */
struct one_thread {
    int before = omp_get_max_threads();
    one_thread() { omp_set_num_threads(1); }
    ~one_thread() { omp_set_num_threads(before); }
};

template <class Work> int guard(faiss_message *why, Work work)
{
    one_thread limit;

    try {
        work();
        return FAISS_OK;
    } catch (const canceled &) {
        return FAISS_CANCELED;
    } catch (const std::bad_alloc &) {
        return FAISS_NOMEM;
    } catch (const std::exception &e) {
        snprintf(why->text, sizeof why->text, "%s", e.what());
    } catch (...) {
        snprintf(why->text, sizeof why->text, "unknown exception");
    }
    return FAISS_FAILED;
}

/* ---- clustering ---------------------------------------------------------- */

/* The index to which k-means adds its centroids, and in which it searches for
 * the nearest. */
struct centroid_index : faiss::IndexFlatL2 {
    const faiss_clustering *c;

    explicit centroid_index(const faiss_clustering *of)
        : faiss::IndexFlatL2(of->d), c(of) {}

    void search(idx_t n, const float *x, idx_t k, float *d2, idx_t *which,
                const faiss::SearchParameters *) const override
    {
        FAISS_THROW_IF_NOT(k == 1);
        if (c->nearest(c->user, get_xb(), (int)ntotal, c->d, x, n,
                       reinterpret_cast<int64_t *>(which), d2))
            throw canceled();
    }
};

int cluster(const faiss_clustering *c, float *centroids, faiss_message *why)
{
    return guard(why, [&] {
        faiss::ClusteringParameters cp;
        centroid_index index(c);

        cp.niter = c->rounds;
        cp.seed = c->seed;
        cp.min_points_per_centroid = 1;         /* the caller has checked */
        cp.max_points_per_centroid = 1 << 30;
        faiss::Clustering work(c->d, c->n_centroids, cp);
        work.train(c->n, c->x, index);
        memcpy(centroids, work.centroids.data(),
               sizeof *centroids * work.centroids.size());
    });
}

/* ---- an index ------------------------------------------------------------ */

/* Inverted lists in arrays of the caller, which are never written. */
struct mapped_lists : faiss::ReadOnlyInvertedLists {
    const faiss_arrays a;

    explicit mapped_lists(const faiss_arrays &of)
        : faiss::ReadOnlyInvertedLists(of.lists, of.subvectors), a(of) {}

    size_t list_size(size_t i) const override
    {
        return a.begin ? a.begin[i + 1] - a.begin[i] : 0;
    }
    const uint8_t *get_codes(size_t i) const override
    {
        return a.begin ? a.codes + a.begin[i] * code_size : nullptr;
    }
    const idx_t *get_ids(size_t i) const override
    {
        return a.begin ? reinterpret_cast<const idx_t *>(a.ids) + a.begin[i]
                       : nullptr;
    }
};

} // namespace

struct faiss_index {
    faiss::IndexFlatL2 quantizer;
    mapped_lists lists;
    faiss::IndexIVFPQ ivfpq;
    faiss::IDSelectorBitmap live;
    bool all_live;

    explicit faiss_index(const faiss_arrays *a)
        : quantizer(a->d), lists(*a),
          ivfpq(&quantizer, a->d, a->lists, a->subvectors, 8),
          live(a->live_bytes, a->live), all_live(!a->live)
    {
        quantizer.add(a->lists, a->centroids);
        memcpy(ivfpq.pq.centroids.data(), a->codebooks,
               sizeof(float) * ivfpq.pq.centroids.size());
        ivfpq.replace_invlists(&lists, false);
        ivfpq.is_trained = true;
        /* Tables make a search faster. They take 64 KB for each list with 64
         * subvectors, so an index that only encodes has none. */
        ivfpq.use_precomputed_table = a->begin ? 0 : -1;
        if (a->begin) ivfpq.precompute_table();
    }
};

namespace {

int index_new(faiss_index **out, const faiss_arrays *a, faiss_message *why)
{
    *out = nullptr;
    return guard(why, [&] { *out = new faiss_index(a); });
}

void index_free(faiss_index *ix) { delete ix; }

int encode(const faiss_index *ix, const float *x, int64_t n,
           const int64_t *list, uint8_t *codes, faiss_message *why)
{
    return guard(why, [&] {
        ix->ivfpq.encode_vectors(n, x, reinterpret_cast<const idx_t *>(list),
                                 codes);
    });
}

int search(const faiss_index *ix, const float *q, int probes,
           const int64_t *list, const float *list_d2, int k, float *d2,
           int64_t *id, faiss_message *why)
{
    return guard(why, [&] {
        faiss::IVFPQSearchParameters p;
        faiss::IndexIVFStats stats;     /* the default is a global variable */

        p.nprobe = (size_t)probes;
        p.sel = ix->all_live
              ? nullptr : const_cast<faiss::IDSelectorBitmap *>(&ix->live);
        ix->ivfpq.search_preassigned(
            1, q, k, reinterpret_cast<const idx_t *>(list), list_d2, d2,
            reinterpret_cast<idx_t *>(id), false, &p, &stats);
    });
}

const faiss_plugin plugin = { FAISS_PLUGIN_VERSION, cluster, index_new,
                              index_free, encode, search };

} // namespace

extern "C" __attribute__((visibility("default")))
const struct faiss_plugin *skmt_faiss_plugin(void);

const struct faiss_plugin *skmt_faiss_plugin(void) { return &plugin; }
