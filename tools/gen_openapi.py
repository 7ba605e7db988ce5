#!/usr/bin/env python3
"""gen_openapi.py - writes apps/server/openapi.json, the list of all routes.

    tools/gen_openapi.py > apps/server/openapi.json

The routes of skmt's own API are described completely, those of other APIs by
what they are for; their own documentation has the details. test_openapi.c
compares the result with the tables of routes.
"""
import json
import re


def ref(name):
    return {"$ref": "#/components/schemas/" + name}


def obj(required="", **properties):
    out = {"type": "object", "properties": properties}
    if required:
        out["required"] = required.split()
    return out


def arr(items, **more):
    return {"type": "array", "items": items, **more}


def text(description=None, **more):
    return {"type": "string",
            **({"description": description} if description else {}), **more}


def integer(description=None, **more):
    return {"type": "integer",
            **({"description": description} if description else {}), **more}


def number(description=None, **more):
    return {"type": "number",
            **({"description": description} if description else {}), **more}


def flag(description=None):
    return {"type": "boolean",
            **({"description": description} if description else {})}


STRINGS = arr({"type": "string"})
OFFSETS = text("the unit of begin and end",
               enum=["utf16", "utf8", "codepoints"], default="utf16")
NULL_INT = {"type": ["integer", "null"]}

# What all translating calls may have.
WISH = {
    "source": text("language of the text; missing or auto: detect it"),
    "target": text("language of the translation"),
    "memories": arr({"type": "string"}, description="names of the memories "
                    "to use; missing: all; empty: none"),
    "options": {"type": "object", "description": "options of the engine by "
                "name, as listed by /v1/info"},
    "replaces": text("an unfinished request of the same key with the same id "
                     "is canceled"),
    "deadline_ms": integer("give up after this time", minimum=1,
                           maximum=3600000),
    "offsets": OFFSETS,
}
SPAN = {"begin": integer(), "end": integer()}

SCHEMAS = {
    "Error": obj("error", error=obj(
        "status message request_id", status=text(), message=text(),
        field=text("the argument at fault"), request_id=text(),
        retry_after=integer("seconds"))),
    "Span": obj("begin end", **SPAN),
    "Edit": obj("kind begin end", kind=text(enum=["=", "-", "+"]), **SPAN),
    "Reason": obj("text effect", text=text(), effect=number()),
    "Vote": obj("pair position token distance share", pair=integer(),
                position=integer(), token=text(), distance=number(),
                share=number()),
    "Token": obj("id piece begin end logprob trust votes reasons",
                 id=integer(), piece=text(), **SPAN, logprob=number(),
                 trust=number("weight of the memory, 0 to 1"),
                 votes=arr(ref("Vote")), reasons=arr(ref("Reason"))),
    "Word": obj("begin end text weight weight_low pair votes reasons tokens",
                **SPAN, text=text(), weight=number(), weight_low=number(),
                pair=NULL_INT,
                votes=arr(obj("pair share won", pair=integer(),
                              share=number(), won=number())),
                reasons=arr(ref("Reason")), tokens=arr(ref("Token"))),
    "SteeringPair": obj(
        "id memory source target similarity exact voted edits places",
        id=integer(), memory=text(), source=text(), target=text(),
        similarity={"type": ["number", "null"]}, exact=flag(), voted=flag(),
        edits=arr(ref("Edit")),
        places=arr(obj("begin end position word won", **SPAN,
                       position=integer(), word=integer(), won=flag()))),
    "Segment": obj(
        "source target score exact pairs others words", source=ref("Span"),
        target=ref("Span"), score=number(), exact=flag(),
        pairs=arr(ref("SteeringPair")),
        others=arr(obj("id memory source target", id=integer(),
                       memory=text(), source=text(), target=text())),
        words=arr(ref("Word"))),
    "Translation": obj(
        "text source target score exact similarity", text=text(),
        source=text(), target=text(), detected=flag(), confidence=number(),
        score=number(), exact=number(), similarity=number(),
        alternatives=arr(obj("text score", text=text(), score=number())),
        segments=arr(ref("Segment"))),
    "Memory": obj(
        "id name title description external_id source target created pairs",
        id=integer(), name=text(), title=text(), description=text(),
        external_id=text(), source=text("language"), target=text("language"),
        created=text(format="date-time"), pairs=integer()),
    "Pair": obj(
        "id memory source target source_lang target_lang origin document "
        "unit author created changed", id=integer(), memory=text(),
        source=text(), target=text(), source_tagged=text(),
        target_tagged=text(), source_lang=text(), target_lang=text(),
        origin=text(), document=text(), unit=text(), author=text(),
        created=text(format="date-time"), changed=text(format="date-time")),
    "NewPair": obj(
        "source target", source=text(), target=text(), source_lang=text(),
        target_lang=text(), document=text(), author=text(), unit=text(),
        replace=flag("remove other translations of the same source")),
    "Imported": obj("imported memory", imported=integer("pairs"),
                    memory=ref("Memory")),
}

PARAMETERS = {
    "name": text("name of a memory, or its id"),
    "id": text(),
}


def body(schema, kind="application/json"):
    return {"required": True, "content": {kind: {"schema": schema}}}


def answer(schema, description, kind="application/json"):
    return {"description": description,
            **({"content": {kind: {"schema": schema}}} if schema else {})}


def operation(summary, tag, path, ok=None, status="200", request=None,
              query=(), open_route=False, error=ref("Error")):
    op = {"summary": summary, "tags": [tag]}
    parameters = [
        {"name": name, "in": "path", "required": True,
         "schema": PARAMETERS.get(name, {"type": "string"})}
        for name in re.findall(r"\{([^}]*)\}", path)]
    parameters += [{"name": name, "in": "query", "required": required,
                    "schema": schema} for name, required, schema in query]
    if parameters:
        op["parameters"] = parameters
    if request:
        op["requestBody"] = request
    op["responses"] = {status: ok or answer({}, "the answer"),
                       "default": answer(error, "an error")}
    if open_route:
        op["security"] = []
    return op


PATHS = {}


def add(methods, path, **more):
    for method in methods.split():
        PATHS.setdefault(path, {})[method.lower()] = operation(
            path=path, **more)


# ---- skmt's own API -------------------------------------------------------


def own(methods, path, summary, **more):
    add(methods, path, summary=summary, tag="skmt", **more)


own("POST", "/v1/translate", "Translate texts",
    request=body(obj(
        texts=STRINGS, text=text("instead of texts"), **WISH,
        nbest=integer(minimum=1, maximum=32, default=1),
        explain=flag("tell how the memory influenced each word"),
        prefix=text("the translation begins with it"),
        background=flag("let other requests go first"))),
    ok=answer(obj("translations", translations=arr(ref("Translation"))),
              "one translation for each text"))
own("POST", "/v1/complete", "Translations that begin with a prefix",
    request=body(obj("text", text=text(), prefix=text(),
                     n=integer(minimum=1, maximum=32, default=3), **WISH)),
    ok=answer(obj("source target completions", source=text(), target=text(),
                  completions=arr(obj("text completion score", text=text(),
                                      completion=text(), score=number()))),
              "the translations, best first"))
own("POST", "/v1/alternatives", "Other words at a position of a translation",
    request=body(obj("text translation position", text=text(),
                     translation=text(), position=integer(minimum=0),
                     n=integer(minimum=1, maximum=32, default=8), **WISH)),
    ok=answer(obj("begin end word alternatives", **SPAN, word=text(),
                  alternatives=arr(obj("begin end word text score", **SPAN,
                                       word=text(), text=text(),
                                       score=number()))),
              "the words, best first"))
own("GET", "/v1/search", "Find similar stored pairs",
    query=[("q", True, text()), ("memories", False, text("names, separated "
                                                         "by commas")),
           ("limit", False, integer(minimum=1, maximum=100, default=16)),
           ("min_similarity", False, number(minimum=0, maximum=1)),
           ("source", False, text()), ("target", False, text()),
           ("offsets", False, OFFSETS)],
    ok=answer(obj("matches", matches=arr(obj(
        "similarity score occurrences pair edits", similarity=number(),
        score=number("BM25"), occurrences=integer(), pair=ref("Pair"),
        edits=arr(ref("Edit"))))), "the pairs, best first"))
own("POST", "/v1/feedback", "Store a corrected translation", status="201",
    request=body(obj("source corrected", source=text(), translation=text(),
                     corrected=text(), memory=text(), source_lang=text(),
                     target_lang=text(), document=text(), author=text(),
                     offsets=OFFSETS)),
    ok=answer(obj("id memory", id=integer(), memory=text(), changed=flag(),
                  edits=arr(ref("Edit"))), "it is stored"))
own("GET", "/v1/info", "What the server is and can do",
    ok=answer(obj(
        "version state isa languages models account limits options",
        version=text(), state=text(), isa=text(),
        languages=arr(obj("source source_name target target_name",
                          source=text(), source_name=text(), target=text(),
                          target_name=text())),
        models=arr({"type": "object"}),
        account=obj("name memory write", name=text(), memory=flag(),
                    write=flag()),
        limits={"type": "object",
                "additionalProperties": {"type": "integer"}},
        options=arr(obj("name kind default help", name=text(), kind=text(),
                        default=text(), help=text()))), "facts"))
own("GET", "/v1/memories", "List the memories",
    ok=answer(obj("memories", memories=arr(ref("Memory"))), "all of them"))
own("POST", "/v1/memories", "Make a memory", status="201",
    request=body(obj("title", title=text(), description=text(),
                     external_id=text(), source=text("language"),
                     target=text("language"))),
    ok=answer(ref("Memory"), "the new memory"))
MEMORY = "/v1/memories/{name}"
own("GET", MEMORY, "Describe a memory", ok=answer(ref("Memory"), "it"))
own("PATCH", MEMORY, "Change title or description",
    request=body(obj(title=text(), description=text())),
    ok=answer(ref("Memory"), "the memory"))
own("DELETE", MEMORY, "Delete a memory with its pairs", status="204",
    ok=answer(None, "it is deleted"))
IMPORT = body({"type": "string", "format": "binary"},
              "application/octet-stream")
IMPORT["content"]["multipart/form-data"] = {"schema": obj(
    "file", file={"type": "string", "format": "binary"})}
IMPORTED = answer(ref("Imported"), "all pairs are stored; with Accept: "
                  "text/event-stream the progress, and then this")
IMPORTED["content"]["text/event-stream"] = {"schema": {"type": "string"}}
own("POST", MEMORY + "/import", "Import a file", request=IMPORT, ok=IMPORTED,
    query=[("name", False, text("of the file")),
           ("source", False, text("language to import")),
           ("target", False, text("language to import")),
           ("create", False, flag("make the memory if it does not exist"))])
own("GET", MEMORY + "/export", "Export a memory",
    query=[("format", False, text(enum=["tmx", "xliff", "po", "tsv", "csv"],
                                  default="tmx"))],
    ok=answer({"type": "string", "format": "binary"}, "the file",
              "application/octet-stream"))
own("GET", MEMORY + "/pairs", "List pairs",
    query=[("limit", False, integer(minimum=1, maximum=1000, default=50)),
           ("after", False, integer("an id", minimum=0))],
    ok=answer(obj("pairs next", pairs=arr(ref("Pair")), next=NULL_INT),
              "a page"))
own("POST", MEMORY + "/pairs", "Add a pair, or several", status="201",
    request=body({"oneOf": [ref("NewPair"),
                            obj("pairs", pairs=arr(ref("NewPair"),
                                                   maxItems=1000))]}),
    ok=answer({"oneOf": [ref("Pair"), obj("pairs", pairs=arr(ref("Pair")))]},
              "what was stored"))
PAIR = MEMORY + "/pairs/{id}"
own("GET", PAIR, "Read a pair", ok=answer(ref("Pair"), "the pair"))
own("PUT", PAIR, "Change a pair",
    request=body(obj(source=text(), target=text())),
    ok=answer(ref("Pair"), "the pair"))
own("DELETE", PAIR, "Delete a pair", status="204",
    ok=answer(None, "it is deleted"))
own("GET", "/health", "Whether the server answers", open_route=True,
    ok=answer(obj("status version", status=text(), version=text()), "yes"))
own("GET", "/ready", "Whether the server can translate", open_route=True,
    ok=answer(obj("status", status=text()), "yes; 503: no"))
own("GET", "/metrics", "Counts for Prometheus", open_route=True,
    ok=answer({"type": "string"}, "the counts", "text/plain"))
own("GET", "/openapi.json", "This list", open_route=True,
    ok=answer({"type": "object"}, "this list"))


# ---- other APIs -----------------------------------------------------------


def others(tag, prefix, routes):
    for methods, path, summary in routes:
        add(methods, prefix + path, summary=summary, tag=tag, error={})


others("page", "", [
    ("GET", "/", "The web page"),
    ("POST", "/", "Translate the form of the page without JavaScript"),
    ("GET", "/page/{version}/{file}", "The files of the page"),
])
others("LibreTranslate", "/libretranslate", [
    ("POST", "/translate", "Translate q"),
    ("GET", "/languages", "The languages and their targets"),
    ("POST", "/detect", "The language of q"),
    ("GET", "/frontend/settings", "Limits and defaults"),
    ("POST", "/suggest", "Store a better translation s of q"),
    ("POST", "/translate_file", "Answers 501: files are not translated"),
    ("GET", "/download_file/{name}", "Answers 501"),
    ("GET", "/health", "Whether the server answers"),
    ("GET", "/spec", "A description for clients"),
    ("GET", "/docs", "A page for people"),
])
others("ModernMT", "/modernmt", [
    ("GET POST", "/translate", "Translate q"),
    ("GET POST", "/languages", "The languages"),
    ("GET POST", "/translate/languages", "The languages"),
    ("GET POST", "/translate/detect", "The language of q"),
    ("GET POST", "/translate/qe", "Answers 501"),
    ("GET POST", "/translate/batch", "Answers 501"),
    ("GET POST", "/tags-projection", "Answers 501"),
    ("GET POST", "/context-vector", "The memories that fit a text"),
    ("GET", "/memories", "List the memories"),
    ("POST", "/memories", "Make a memory"),
    ("GET POST", "/memories/connect", "Memories by their keys"),
    ("POST", "/memories/content", "Store a pair in several memories"),
    ("GET", "/memories/imports/{id}", "The state of an import"),
    ("GET", "/memories/{id}", "Describe a memory"),
    ("PUT", "/memories/{id}", "Change a memory"),
    ("DELETE", "/memories/{id}", "Delete a memory"),
    ("POST", "/memories/{id}/content", "Add a pair, or import a file"),
    ("PUT", "/memories/{id}/content", "Replace a pair"),
    ("POST", "/memories/{id}/corpus", "Add a pair, or import a file"),
    ("PUT", "/memories/{id}/corpus", "Replace a pair"),
    ("POST PUT", "/memories/{id}/glossary", "Answers 501"),
    ("GET", "/import-jobs/{id}", "The state of an import"),
    ("GET POST", "/users/me", "The account"),
    ("GET", "/_health", "Whether the server answers"),
    ("GET", "/", "The version of the API"),
])
others("DeepL", "/deepl", [
    ("POST", "/v2/translate", "Translate text"),
    ("GET POST", "/v2/languages", "The languages"),
    ("GET POST", "/v2/usage", "How much was translated"),
    ("GET", "/v2/glossary-language-pairs", "Pairs for glossaries: none"),
] + [("GET POST PUT PATCH DELETE", path, "Answers 404: not offered") for path in [
    "/v2/glossaries", "/v2/glossaries/{rest}", "/v3/glossaries",
    "/v3/glossaries/{rest}", "/v2/document", "/v2/document/{rest}",
    "/v3/translation_memories", "/v3/translation_memories/{rest}",
    "/v2/write/{rest}", "/v3/{rest}"]])
TMSERVER = [
    ("GET", "/{src}/{tgt}/unit/{rest}", "Find pairs similar to a text"),
    ("PUT POST", "/{src}/{tgt}/unit/{rest}", "Store a pair"),
    ("PUT", "/{src}/{tgt}/store/{name}", "Import a file"),
    ("POST", "/{src}/{tgt}/store/{name}", "Store a list of pairs"),
]
others("tmserver", "/tmserver", TMSERVER)
others("amaGama", "/api/v1", TMSERVER + [
    ("GET", "/languages", "The languages"),
])
others("Apertium", "/apertium", [
    ("GET POST", "/translate", "Translate q"),
    ("GET POST", "/listPairs", "The pairs of languages"),
])
others("OPUS-CAT", "/MTRestService", [
    ("GET", "/TranslateJson", "Translate input; an object"),
    ("POST", "/TranslatePost", "Translate input; an object"),
    ("GET", "/Translate", "Translate input; a string"),
    ("GET", "/TranslateStream", "Translate input; a string"),
    ("GET", "/TranslateParagraphJson", "Translate input; a string"),
    ("POST", "/PreOrderBatch", "Texts that will be asked for"),
    ("POST", "/Customize", "Answers 501: models are not tuned"),
    ("GET", "/ListSupportedLanguagePairs", "The pairs of languages"),
    ("GET", "/GetLanguagePairModelTags", "The models of a pair"),
    ("GET", "/CheckModelStatus", "Whether a model is ready"),
    ("GET", "/Login", "A token"),
])

print(json.dumps({
    "openapi": "3.1.0",
    "info": {
        "title": "skmt serve",
        "version": "1",
        "description": "Machine translation that is steered by translation "
        "memories. skmt's own API begins with /v1. Other APIs are listed by "
        "their prefix; most of their paths are also served without it "
        "(docs/server.md, \"Which API is meant\"). HEAD is answered like GET."},
    "security": [{"bearer": []}, {"key": []}, {}],
    "paths": PATHS,
    "components": {
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}},
        "schemas": SCHEMAS},
}, indent=1, ensure_ascii=False))
