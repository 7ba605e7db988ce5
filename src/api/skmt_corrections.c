/* skmt_corrections.c - the part of include/skmt_tools.h that lets sessions,
 * streams and requests use a datastore, the corrections so far or an alignment.
 *
 * A skmt_corrections is a struct online_store. */
#include "api/align_handle.h"
#include "api/datastore_handle.h"
#include "api/handles.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "text/utf8.h"

static struct online_store *online_of(skmt_corrections *c)
{
    return (struct online_store *)(void *)c;
}

static struct entries *entries_of(const skmt_datastore *ds)
{
    return ds ? ds->s : NULL;
}

/* ---- corrections --------------------------------------------------------- */

skmt_status skmt_corrections_new(skmt_corrections **out,
                                 const skmt_model *model,
                                 const skmt_options *options, skmt_error *err)
{
    struct options o = options_or_defaults(options);
    struct online_store *s;
    enum status st;

    err_clear(err_of(err));
    st = online_store_new(&s, engine_of(model), &o, err_of(err));
    *out = (skmt_corrections *)(void *)s;
    return (skmt_status)st;
}

void skmt_corrections_free(skmt_corrections *c)
{
    online_store_free(online_of(c));
}

skmt_status skmt_corrections_add(skmt_corrections *c, const char *source,
                                 const char *target, skmt_error *err)
{
    struct str src = str_of(source), tgt = str_of(target);

    err_clear(err_of(err));
    if (utf8_check(src.p, src.n) != src.n || utf8_check(tgt.p, tgt.n) != tgt.n)
        return (skmt_status)err_set(err_of(err), ST_TEXT,
                                    "the pair is not valid UTF-8");
    return (skmt_status)online_store_add(online_of(c), src, tgt, 0,
                                         err_of(err));
}

skmt_status skmt_corrections_reset(skmt_corrections *c, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)online_store_reset(online_of(c), err_of(err));
}

int skmt_corrections_count(skmt_corrections *c)
{
    struct online_view *v = online_store_view(online_of(c));
    int n = v->n;

    online_view_drop(v);
    return n;
}

/* ---- using them ---------------------------------------------------------- */

skmt_status skmt_session_use_datastore(skmt_session *s,
                                       const skmt_datastore *ds,
                                       skmt_error *err)
{
    err_clear(err_of(err));
    session_set_entries((struct session *)(void *)s, entries_of(ds));
    return SKMT_OK;
}

skmt_status skmt_session_use_corrections(skmt_session *s, skmt_corrections *c,
                                         skmt_error *err)
{
    err_clear(err_of(err));
    session_set_online((struct session *)(void *)s, online_of(c));
    return SKMT_OK;
}

skmt_status skmt_stream_use_datastore(skmt_stream *s, const skmt_datastore *ds,
                                      skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)stream_set_entries(s->s, entries_of(ds), err_of(err));
}

skmt_status skmt_stream_use_corrections(skmt_stream *s, skmt_corrections *c,
                                        skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)stream_set_online(s->s, online_of(c), err_of(err));
}

void skmt_request_use_datastore(skmt_request *q, const skmt_datastore *ds)
{
    struct request *r = (struct request *)(void *)q;

    if (!request_submitted(r)) r->memory.entries = entries_of(ds);
}

void skmt_request_use_corrections(skmt_request *q, skmt_corrections *c)
{
    struct request *r = (struct request *)(void *)q;

    if (!request_submitted(r)) r->memory.online = online_of(c);
}

/* ---- alignments ---------------------------------------------------------- */

/* The parameters of an aligner. *out is NULL if there is no aligner. */
static enum status alignment_of(const skmt_aligner *a,
                                const struct align_model **out, struct err *e)
{
    err_clear(e);
    *out = a ? a->model : NULL;
    if (!a || a->model) return ST_OK;
    return err_set(e, ST_ARGUMENT, "this aligner has no parameters: train it "
                   "or read them from a file");
}

skmt_status skmt_session_use_alignment(skmt_session *s, const skmt_aligner *a,
                                       skmt_error *err)
{
    const struct align_model *m;
    enum status st = alignment_of(a, &m, err_of(err));

    if (!st) session_set_alignment((struct session *)(void *)s, m);
    return (skmt_status)st;
}

skmt_status skmt_stream_use_alignment(skmt_stream *s, const skmt_aligner *a,
                                      skmt_error *err)
{
    const struct align_model *m;
    enum status st = alignment_of(a, &m, err_of(err));

    if (!st) st = stream_set_alignment(s->s, m, err_of(err));
    return (skmt_status)st;
}

skmt_status skmt_request_use_alignment(skmt_request *q, const skmt_aligner *a,
                                       skmt_error *err)
{
    struct request *r = (struct request *)(void *)q;
    const struct align_model *m;
    enum status st = alignment_of(a, &m, err_of(err));

    if (!st && !request_submitted(r)) r->memory.alignment = m;
    return (skmt_status)st;
}
