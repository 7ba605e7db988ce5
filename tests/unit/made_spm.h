/* made_spm.h - makes small SentencePiece models for tests. */
#ifndef MADE_SPM_H
#define MADE_SPM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

#define SP "\xE2\x96\x81"

enum { NORMAL = 1, UNK, CONTROL, USER, UNUSED, BYTE };

struct spec { const char *piece; float score; int type; };

static inline void put_varint(struct strbuf *sb, unsigned v)
{
    for (; v >= 0x80; v >>= 7) strbuf_addc(sb, (char)(v | 0x80));
    strbuf_addc(sb, (char)v);
}

static inline void put_bytes(struct strbuf *sb, int field, const void *s,
                             size_t n)
{
    put_varint(sb, (unsigned)field << 3 | 2);
    put_varint(sb, (unsigned)n);
    strbuf_add(sb, s, n);
}

static inline void put_int(struct strbuf *sb, int field, int v)
{
    put_varint(sb, (unsigned)field << 3);
    put_varint(sb, (unsigned)v);
}

static inline void put_piece(struct strbuf *sb, struct spec s)
{
    struct strbuf one;

    strbuf_init(&one, 0);
    put_bytes(&one, 1, s.piece, strlen(s.piece));
    put_varint(&one, 2 << 3 | 5);
    strbuf_add(&one, &s.score, 4);
    if (s.type != NORMAL) put_int(&one, 3, s.type);
    put_bytes(sb, 1, one.data, one.len);
    strbuf_release(&one);
}

static inline void put_spec(struct strbuf *sb, int message, int field, int v)
{
    struct strbuf one;

    strbuf_init(&one, 0);
    put_int(&one, field, v);
    put_bytes(sb, message, one.data, one.len);
    strbuf_release(&one);
}

static inline void make_model(struct strbuf *sb, int kind, const struct spec *s,
                       size_t n)
{
    strbuf_init(sb, 0);
    for (size_t i = 0; i < n; i++) put_piece(sb, s[i]);
    put_spec(sb, 2, 3, kind);
}

/* ---- a trained BPE model ---- */

#define BPE_TEXT_MAX 20000      /* symbols of a training text */

struct bpe_part { const char *s; size_t n; };

static inline bool same_part(struct bpe_part a, const char *s, size_t n)
{
    return a.n == n && !memcmp(a.s, s, n);
}

/* Returns the index of the leftmost pair that occurs most often, or -1 if none
 * occurs twice. A pair is not counted if its right part begins a word. */
static inline int best_pair(const struct bpe_part *p, int n)
{
    int best = -1, most = 1;

    for (int i = 0; i + 1 < n; i++) {
        size_t len = p[i].n + p[i + 1].n;
        int count = 0;

        if (!memcmp(p[i + 1].s, SP, 3) || len > 40) continue;
        for (int k = i; k + 1 < n; k++)
            count += p[k].n == p[i].n && same_part(p[k + 1], p[i + 1].s,
                                                   p[i + 1].n) &&
                     same_part(p[k], p[i].s, p[i].n);
        if (count > most) {
            most = count;
            best = i;
        }
    }
    return best;
}

/* Makes a BPE model from a text: its n_merges best merges, its characters, and
 * the 256 bytes. */
static inline void make_bpe_model(struct strbuf *sb, const char *text,
                                  int n_merges)
{
    struct bpe_part *p = malloc(BPE_TEXT_MAX * sizeof *p);
    struct strbuf spaced, seen;
    char name[8];
    int n = 0;

    strbuf_init(sb, 0);
    strbuf_init(&spaced, 0);
    strbuf_init(&seen, 0);
    put_piece(sb, (struct spec){ "<unk>", 0, UNK });
    put_piece(sb, (struct spec){ "<s>", 0, CONTROL });
    put_piece(sb, (struct spec){ "</s>", 0, CONTROL });
    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        put_piece(sb, (struct spec){ name, 0, BYTE });
    }
    strbuf_adds(&spaced, SP);
    for (; *text; text++) {
        if (*text == ' ') strbuf_adds(&spaced, SP);
        else strbuf_addc(&spaced, *text);
    }
    for (size_t at = 0; at < spaced.len && n < BPE_TEXT_MAX; n++) {
        size_t len = 1;

        while (((unsigned char)spaced.data[at + len] & 0xC0) == 0x80) len++;
        p[n] = (struct bpe_part){ spaced.data + at, len };
        at += len;
    }
    for (int i = 0; i < n; i++) {       /* the characters, once each */
        char c[8];

        snprintf(c, sizeof c, "\n%.*s\n", (int)p[i].n, p[i].s);
        if (strstr(seen.data, c)) continue;
        strbuf_adds(&seen, c);
        c[1 + p[i].n] = '\0';
        put_piece(sb, (struct spec){ c + 1, -10000 - (float)i, NORMAL });
    }
    for (int m = 0, at; m < n_merges && (at = best_pair(p, n)) >= 0; m++) {
        struct bpe_part a = p[at], b = p[at + 1];
        char piece[48];
        int to = 0;

        for (int i = 0; i < n; i++, to++) {
            p[to] = p[i];
            if (i + 1 == n || !same_part(p[i], a.s, a.n) ||
                !same_part(p[i + 1], b.s, b.n))
                continue;
            p[to].n += b.n;
            i++;
        }
        n = to;
        snprintf(piece, sizeof piece, "%.*s", (int)(a.n + b.n), a.s);
        put_piece(sb, (struct spec){ piece, -(float)m, NORMAL });
    }
    put_spec(sb, 2, 3, 2);
    put_spec(sb, 2, 35, 1);
    strbuf_release(&spaced);
    strbuf_release(&seen);
    free(p);
}

#endif
