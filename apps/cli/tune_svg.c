/* tune_svg.c - draws the tables of skmt tune as heat maps in an SVG file, with
 * one panel for each table and metric.
 *
 * The colors of a panel go from its lowest score to its highest. They are light
 * enough to read dark text on them (contrast 8 to 1 on the darkest). Color is
 * never the only information: every cell has its number, and the best one has
 * a frame. */
#include <string.h>

#include "common/utf8_scan.h"
#include "tune_call.h"

#define MARGIN 24
#define PANEL_GAP_W 36          /* between panels, horizontally */
#define PANEL_GAP_H 22          /* between panels, vertically */
#define HEAD_W 76               /* width of the row labels */
#define CELL_W 64
#define CELL_H 32
#define TITLE_H 26
#define LABEL_H 20
#define LEGEND_H 32
#define PANEL_MIN_W 400         /* room for a title and a legend */
#define TOP_H 66                /* height of the title of the picture */
#define TITLE_CHAR_W 10         /* estimated width of a character in it, on the
                                   high side */
#define PICTURE_MIN_W 700       /* room for the line below the title */
#define N_SWATCHES 6
#define SWATCH_W 20
#define SWATCH_H 12

struct panel {
    const struct tune_call *c;
    const struct tune_table *table;
    int metric;
    int rows, cols;             /* axes; rows is -1 if there is one row */
    int n_rows, n_cols;
    int best[N_AXES];
    double low, high;           /* lowest and highest score */
    int x, y;
};

/* ---- elements --------------------------------------------------------- */

/* Append the text of an element. Control characters become '?'. */
static void tune_svg_put_escaped(struct textbuf *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)s[i];

        if (ch == '&') textbuf_adds(t, "&amp;");
        else if (ch == '<') textbuf_adds(t, "&lt;");
        else if (ch == '>') textbuf_adds(t, "&gt;");
        else if (ch < 0x20 || ch == 0x7F) textbuf_adds(t, "?");
        else textbuf_add(t, s + i, 1);
    }
}

/* Append a text that might not be valid UTF-8. Invalid bytes become '?'. */
static void tune_svg_put_text(struct textbuf *t, const struct textbuf *from)
{
    size_t at = 0;

    while (at < from->len) {
        size_t n = utf8_first_bad(from->data + at, from->len - at);

        tune_svg_put_escaped(t, from->data + at, n);
        at += n;
        if (at++ < from->len) textbuf_adds(t, "?");
    }
}

/* Append the color of a score. share: 0 for the lowest score (#f4f8fc), 1 for
 * the highest (#7fb8de). */
static void put_color(struct textbuf *t, double share)
{
    static const int low[] = { 0xF4, 0xF8, 0xFC }, high[] = { 0x7F, 0xB8,
                                                              0xDE };

    textbuf_adds(t, "#");
    for (int i = 0; i < 3; i++)
        textbuf_addf(t, "%02x", (int)(low[i] + share * (high[i] - low[i])
                                      + 0.5));
}

static void text_begin(struct textbuf *t, int x, int y, const char *anchor,
                       const char *class)
{
    textbuf_addf(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\"", x, y,
                 anchor);
    if (*class) textbuf_addf(t, " class=\"%s\"", class);
    textbuf_adds(t, ">");
}

static void text_end(struct textbuf *t) { textbuf_adds(t, "</text>\n"); }

/* ---- a panel ---------------------------------------------------------- */

static void panel_init(struct panel *p, const struct tune_call *c,
                       const struct tune_table *table, int metric)
{
    int at[N_AXES];

    *p = (struct panel){ .c = c, .table = table, .metric = metric };
    tune_table_axes(table, &p->rows, &p->cols);
    p->n_rows = p->rows < 0 ? 1 : c->axes[p->rows].n;
    p->n_cols = c->axes[p->cols].n;
    tune_table_best(c, table, metric, p->best);
    p->low = p->high = tune_point_at(c, p->best)->score[metric];
    tune_table_first(table, at);
    do {
        double v = tune_point_at(c, at)->score[metric];

        if (v < p->low) p->low = v;
    } while (tune_table_next(c, table, at));
}

static int panel_width(const struct panel *p)
{
    int w = HEAD_W + p->n_cols * CELL_W;

    return w < PANEL_MIN_W ? PANEL_MIN_W : w;
}

static int panel_height(const struct panel *p)
{
    return TITLE_H + LABEL_H + p->n_rows * CELL_H + LEGEND_H;
}

static void tune_svg_put_cell(struct textbuf *t, const struct panel *p,
                              const int at[N_AXES], int row, int col)
{
    double v = tune_point_at(p->c, at)->score[p->metric];
    bool best = !memcmp(at, p->best, sizeof p->best);
    int x = p->x + HEAD_W + col * CELL_W;
    int y = p->y + TITLE_H + LABEL_H + row * CELL_H;

    textbuf_adds(t, "<g><title>");
    tune_put_setting(t, p->c, at);
    textbuf_addf(t, ": %s %.2f</title>", tune_metrics[p->metric].title, v);
    textbuf_addf(t, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                 "fill=\"", x + 2, y + 2, CELL_W - 4, CELL_H - 4);
    put_color(t, p->high > p->low ? (v - p->low) / (p->high - p->low) : 0);
    textbuf_addf(t, "\"%s/>", best ? " class=\"best\"" : "");
    text_begin(t, x + CELL_W / 2, y + CELL_H / 2 + 5, "middle",
               best ? "bold" : "");
    textbuf_addf(t, "%.2f</text></g>\n", v);
}

/* Append a label, such as "k 2" above a column or "m 16" left of a row. */
static void put_label(struct textbuf *t, const struct panel *p, int axis,
                      int i)
{
    const struct tune_axis *x = &p->c->axes[axis];

    if (axis == p->cols)
        text_begin(t, p->x + HEAD_W + i * CELL_W + CELL_W / 2,
                   p->y + TITLE_H + LABEL_H - 6, "middle", "");
    else
        text_begin(t, p->x + HEAD_W - 10, p->y + TITLE_H + LABEL_H
                   + i * CELL_H + CELL_H / 2 + 5, "end", "");
    textbuf_addf(t, "%s ", x->name);
    tune_put_number(t, x->values[i]);
    text_end(t);
}

static void put_legend(struct textbuf *t, const struct panel *p)
{
    int x = p->x + HEAD_W;
    int y = p->y + TITLE_H + LABEL_H + p->n_rows * CELL_H + 12;
    int n = p->high > p->low ? N_SWATCHES : 1;

    text_begin(t, x - 10, y + SWATCH_H - 1, "end", "small");
    textbuf_addf(t, "%.2f", p->low);
    text_end(t);
    for (int i = 0; i < n; i++) {
        textbuf_addf(t, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                     "class=\"swatch\" fill=\"", x + i * SWATCH_W, y,
                     SWATCH_W, SWATCH_H);
        put_color(t, n > 1 ? i / (double)(n - 1) : 0);
        textbuf_adds(t, "\"/>\n");
    }
    text_begin(t, x + n * SWATCH_W + 8, y + SWATCH_H - 1, "start", "small");
    textbuf_addf(t, "%.2f %s, best: framed", p->high,
                 tune_metrics[p->metric].title);
    text_end(t);
}

static void put_panel(struct textbuf *t, const struct panel *p)
{
    int at[N_AXES];

    textbuf_adds(t, "<g>\n");
    text_begin(t, p->x, p->y + 14, "start", "bold");
    textbuf_addf(t, "%s: ", tune_metrics[p->metric].title);
    tune_put_title(t, p->c, p->table);
    text_end(t);
    for (int i = 0; i < p->n_cols; i++) put_label(t, p, p->cols, i);
    for (int r = 0; r < p->n_rows; r++) {
        tune_table_first(p->table, at);
        if (p->rows >= 0) {
            at[p->rows] = r;
            put_label(t, p, p->rows, r);
        }
        for (int i = 0; i < p->n_cols; i++) {
            at[p->cols] = i;
            tune_svg_put_cell(t, p, at, r, i);
        }
    }
    put_legend(t, p);
    textbuf_adds(t, "</g>\n");
}

/* ---- the picture ------------------------------------------------------ */

static const char heading[] = "skmt tune: ";

static void put_heading(struct textbuf *t, const struct tune_call *c,
                        const struct textbuf *lines)
{
    text_begin(t, MARGIN, MARGIN + 12, "start", "title");
    textbuf_adds(t, heading);
    tune_svg_put_text(t, lines);
    text_end(t);
    text_begin(t, MARGIN, MARGIN + 32, "start", "");
    textbuf_addf(t, "Best by %s: ", tune_metrics[c->metric].title);
    tune_put_setting(t, c, c->best);
    textbuf_addf(t, ". Without the memory: BLEU %.2f, chrF2 %.2f",
                 c->model_only.score[TUNE_BLEU],
                 c->model_only.score[TUNE_CHRF]);
    text_end(t);
}

static void put_begin(struct textbuf *t, int width, int height)
{
    textbuf_addf(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                 "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\"\n"
                 "     aria-labelledby=\"title desc\">\n", width, height,
                 width, height);
    textbuf_adds(t, "<title id=\"title\">skmt tune: scores by settings"
                 "</title>\n<desc id=\"desc\">Tables of translation scores. "
                 "Darker is better; the best score in each "
                 "table is framed.</desc>\n"
                 "<style>text { font: 13px sans-serif; fill: #1a1a1a } "
                 ".title { font-size: 16px; font-weight: bold } ");
    textbuf_adds(t, ".bold { font-weight: bold } .small { font-size: 12px } "
                 ".best { stroke: #1a1a1a; stroke-width: 3 } "
                 ".swatch { stroke: #8a8a8a; stroke-width: 0.5 }</style>\n");
    textbuf_addf(t, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                 width, height);
}

/* Draw the panels of a table side by side. Returns their height. */
static int tune_svg_put_table(struct textbuf *t, const struct tune_call *c,
                              const struct tune_table *table, int y, int *width)
{
    struct panel p;
    int x = MARGIN;

    for (int k = 0; k < N_METRICS; k++) {
        panel_init(&p, c, table, k);
        p.x = x;
        p.y = y;
        put_panel(t, &p);
        x += panel_width(&p) + PANEL_GAP_W;
    }
    if (x - PANEL_GAP_W + MARGIN > *width) *width = x - PANEL_GAP_W + MARGIN;
    return panel_height(&p);
}

void tune_svg(struct textbuf *t, const struct tune_call *c)
{
    struct textbuf lines = { 0 }, body = { 0 };
    int width, y = TOP_H + MARGIN;

    tune_put_lines(&lines, c);
    width = 2 * MARGIN
            + (int)(sizeof heading + lines.len) * TITLE_CHAR_W;
    if (width < PICTURE_MIN_W) width = PICTURE_MIN_W;
    for (size_t i = 0; i < c->n_tables; i++)
        y += tune_svg_put_table(&body, c, &c->tables[i], y, &width)
             + PANEL_GAP_H;
    put_begin(t, width, y);
    put_heading(t, c, &lines);
    textbuf_add(t, body.data, body.len);
    textbuf_adds(t, "</svg>\n");
    if (body.failed || lines.failed) t->failed = true;
    textbuf_release(&body);
    textbuf_release(&lines);
}
