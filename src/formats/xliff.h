/* xliff.h - what the XLIFF reader and writer share.
 *
 * The extra data (extra.h) of a unit has the key "xliff1" or "xliff2",
 * depending on the version. Its members; empty ones are left out:
 *
 *     unit      attributes of <trans-unit> or <unit>, except the id
 *     head      its other children as XML: notes, contexts, alternatives,
 *               original data
 *     groups    the groups around the unit, outermost first:
 *               [{"a":{attributes},"x":"children"}, ...]
 *     source, target     attributes of these elements
 *     seg, target_seg    attributes of <segment>, or of <mrk mtype="seg">
 *     pre, target_pre    the XML before the segment
 *     post, target_post  the XML after the last segment
 *     seg_source         <seg-source> of a unit that is not split
 *     more      true: another segment of the previous unit
 *
 * If both languages are segmented in the same way, each segment becomes a unit
 * of its own. The first one carries the data of the whole. The extra data of
 * the file:
 *
 *     {"xliff1":{"version":"1.2","root":{attributes},
 *                "files":{"name":{"a":{attributes},"x":"children"}}}}
 *
 * The name is the attribute `original` (in version 2, `id` if there is no
 * `original`). It is also the document of the units. */
#ifndef FORMATS_XLIFF_H
#define FORMATS_XLIFF_H

#define XLIFF1_SPACE "urn:oasis:names:tc:xliff:document:1.2"
#define XLIFF2_SPACE "urn:oasis:names:tc:xliff:document:2.0"

#endif
