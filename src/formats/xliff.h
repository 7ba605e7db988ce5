/* xliff.h - what the XLIFF reader and writer agree on.
 *
 * A unit's extra (extra.h) has the key "xliff1" or "xliff2", by the version,
 * and in it, each only where there is something:
 *
 *     unit      attributes of <trans-unit> or <unit> but its id
 *     head      its other children as XML: notes, contexts, alternatives,
 *               original data
 *     groups    [{"a":{attributes},"x":"children"}, ...] it stands in
 *     source, target     attributes of these elements
 *     seg, target_seg    of <segment>, or of the <mrk mtype="seg">
 *     pre, target_pre    what stands before the segment, as XML
 *     post, target_post  and behind the last one
 *     seg_source         <seg-source> of a unit that is not taken apart
 *     more      true: another segment of the unit before
 *
 * A segment is a unit of its own where both languages are cut the same way;
 * the first of them has what belongs to the whole. The file's extra:
 *
 *     {"xliff1":{"version":"1.2","root":{attributes},
 *                "files":{"name":{"a":{attributes},"x":"children"}}}}
 *
 * where the name is `original`, in version 2 `id` if there is none, and the
 * unit's document. */
#ifndef FORMATS_XLIFF_H
#define FORMATS_XLIFF_H

#define XLIFF1_SPACE "urn:oasis:names:tc:xliff:document:1.2"
#define XLIFF2_SPACE "urn:oasis:names:tc:xliff:document:2.0"

#endif
