# skmt - "make help" prints this list.
#
#   make              build build/skmt, build/libskmt.so and build/libskmt.a
#   make demo         install missing packages, build, translate a few lines
#   make check        run the tests (a few minutes, no network)
#   make check-san    run the unit tests with the address and
#                     undefined-behavior sanitizers
#   make check-web    test the server with npm packages and a browser; needs the
#                     network once
#   make check-python run the tests of the Python package; needs no network
#   make screenshots  make the pictures of the web page in docs/images
#   make check-long   run the long tests: sanitizers, valgrind, aarch64, clang,
#                     fuzzing, full test sets
#   make bench        measure the speed on this machine
#   make fuzz         run every fuzzer for FUZZ_SECONDS (60)
#   make install      install to DESTDIR and PREFIX (/usr/local)
#   make uninstall    remove what make install has installed
#   make man          update the option lists of the man page
#   make dist         write build/skmt-VERSION.tar.xz from the last commit
#   make deb          write build/deb/skmt_VERSION_ARCH.deb, a Debian package
#   make clean        remove the build folder
#
#   SAN=1             build with these sanitizers, in build/san
#   PARANOID=1        check whole data structures after each step, in
#                     build/paranoid (slow)
#   BUILD=dir         build in another folder, to keep several builds
#   CROSS=aarch64-linux-gnu-   build for another processor; see
#                     scripts/deps-cross

# The version is also in include/skmt.h and docs/man/skmt.1.
VERSION   = 0.1.0
SOVERSION = 0
BUILD    ?= $(if $(SAN),build/san,$(if $(PARANOID),build/paranoid,build))
PREFIX   ?= /usr/local
DESTDIR  ?=
LIBDIR   ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 60

ifeq ($(origin CC),default)
CC       = $(CROSS)gcc
endif
ifeq ($(origin CXX),default)
CXX      = $(CROSS)g++
endif
ifeq ($(origin AR),default)
AR       = $(CROSS)ar
endif
OBJCOPY ?= $(CROSS)objcopy
# ARCH is empty on a machine without a compiler. `make demo` and `make check`
# install one and then call make again.
ARCH    := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1)

WARN    = -Wall -Wextra -Wshadow -Wstrict-prototypes
OPT    ?= -O2
COMMA    = ,
SANFLAGS = $(if $(SAN),-fsanitize=address$(COMMA)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALLCFLAGS = -std=c17 -D_GNU_SOURCE $(WARN) $(OPT) -g -fPIC -pthread \
            -fvisibility=hidden -ffp-contract=off -fno-math-errno $(SANFLAGS) \
            -DSKMT_VERSION_TEXT='"$(VERSION)"' $(if $(PARANOID),-DPARANOID) \
            $(CPPFLAGS) $(CFLAGS)
INC      = -Isrc -Iinclude
LIBS     = -lsqlite3 -lexpat -lz -llzma -lzstd -ljansson -lyaml -lutf8proc -lm -pthread
# Only the program uses these: the line editor of skmt learn, and the server.
APP_LIBS = $(shell pkg-config --libs libedit) $(SERVER_LIBS)
SERVER_LIBS = $(shell pkg-config --libs libmicrohttpd)

# Vector kernels are compiled for their instruction set and chosen at run time.
# All other files are compiled for the baseline of the architecture.
ISAS       = avx2 avx512 amx
ISA_avx2   = -mavx2 -mfma -mf16c
ISA_avx512 = -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma \
             -mbmi -mpopcnt
ISA_amx    = $(ISA_avx512) -mamx-tile -mamx-int8 -mprfchw
X86_ONLY   = $(ISAS:%=src/tensor/cpu/%.c)

LIB_SRC := $(wildcard src/*/*.c src/*/*/*.c)
ifneq ($(ARCH),x86_64)
LIB_SRC := $(filter-out $(X86_ONLY),$(LIB_SRC))
endif
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard apps/cli/*.c))
COMMON_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard apps/common/*.c))
SERVER_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard apps/server/*.c)) \
              $(BUILD)/apps/server/page_files.o

# Programs, each compiled from one file: unit tests, programs that the tests
# use, examples, fuzzers and benchmarks.
programs = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))
UNIT     := $(call programs,tests/unit/test_*.c)
# tests/unit/toy_*.c are second implementations of interfaces (docs/seams.md),
# which are linked to every unit test.
TOYS     := $(wildcard tests/unit/toy_*.c)
HELPERS  := $(call programs,$(filter-out tests/unit/main.c $(TOYS) \
              $(wildcard tests/unit/test_*.c),$(wildcard tests/unit/*.c)) \
              $(filter-out tools/embed.c,$(wildcard tools/*.c)))
SECOND   := $(call programs,tests/apps/*.c)
EXAMPLES := $(call programs,examples/*.c)
EXAMPLES_CC := $(patsubst %.cc,$(BUILD)/%_cc,$(wildcard examples/*.cc))
FUZZERS  := $(call programs,tests/fuzz/fuzz_*.c)
BENCHES  := $(call programs,bench/*.c)
MODELS   := $(wildcard models/*.skmt)
# The files of the web page and the list of routes become part of the program.
PAGE     := $(sort $(wildcard apps/server/page/*)) apps/server/openapi.json

# The plug-in for IVF-PQ indexes is built if Debian's libfaiss-dev is installed.
FAISS_HEADER = /usr/include/faiss/IndexIVFPQ.h
PLUGINS  := $(if $(CROSS),,$(if $(wildcard $(FAISS_HEADER)),$(BUILD)/skmt-faiss.so))

all: $(BUILD)/skmt $(BUILD)/libskmt.so $(BUILD)/libskmt.a $(PLUGINS)

# Objects are compiled again when the flags change: these files hold the flags
# and are rewritten only if their contents differ.
QUOTE     = '$(subst ','\'',$(1))'
FLAGS    := $(call QUOTE,$(strip $(CC) $(ALLCFLAGS) : $(LDFLAGS)))
$(BUILD)/flags: TEXT = $(FLAGS)
$(BUILD)/prefix: TEXT = $(call QUOTE,$(PREFIX) $(LIBDIR))
$(BUILD)/page_list: TEXT = $(call QUOTE,$(PAGE))
$(BUILD)/flags $(BUILD)/prefix $(BUILD)/page_list: always
	@mkdir -p $(@D)
	@printf '%s\n' $(TEXT) | cmp -s - $@ || printf '%s\n' $(TEXT) > $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) $(ISA_$(notdir $*)) $(INC) -MMD -MP -c $< -o $@

# ---- the library and the program -----------------------------------------

# The library for unit tests: internal names are visible.
$(BUILD)/libinternal.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# The static library that is installed: one object file whose only global names
# are the public ones.
$(BUILD)/libskmt.a: $(LIB_OBJ)
	@rm -f $@
	$(CC) -r -nostdlib $^ -o $(BUILD)/libskmt.o
	$(OBJCOPY) --localize-hidden $(BUILD)/libskmt.o
	$(AR) rcs $@ $(BUILD)/libskmt.o

$(BUILD)/libskmt.so: $(LIB_OBJ)
	$(CC) $(SANFLAGS) $(LDFLAGS) -shared -Wl,-soname,libskmt.so.$(SOVERSION) \
	    $(if $(SAN),,-Wl$(COMMA)-z$(COMMA)defs) $^ $(LIBS) -o $@
	ln -sf libskmt.so $@.$(SOVERSION)

# What the programs in apps/ share. It is not installed.
$(BUILD)/libcommon.a: $(COMMON_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# The server, and the files of its page as C source. tools/embed runs on the
# machine that builds.
HOSTCC ?= gcc
$(BUILD)/libserver.a: $(SERVER_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tools/embed: tools/embed.c
	@mkdir -p $(@D)
	$(HOSTCC) -std=c17 -D_GNU_SOURCE $(WARN) -O1 $< -o $@

$(BUILD)/apps/server/page_files.c: $(BUILD)/tools/embed $(PAGE) $(BUILD)/page_list
	@mkdir -p $(@D)
	$(BUILD)/tools/embed $(PAGE) > $@.new
	@mv $@.new $@

$(BUILD)/apps/server/page_files.o: $(BUILD)/apps/server/page_files.c $(BUILD)/flags
	$(CC) $(ALLCFLAGS) $(INC) -MMD -MP -c $< -o $@

# Programs are compiled with include/ and apps/common only.
$(CLI_OBJ) $(COMMON_OBJ) $(SERVER_OBJ): INC = -Iinclude -Iapps
$(BUILD)/apps/common/findmodel.o: ALLCFLAGS += -DSKMT_PREFIX='"$(PREFIX)"'
$(BUILD)/apps/common/findmodel.o: $(BUILD)/prefix
$(BUILD)/src/knn/ivfpq_plugin.o: ALLCFLAGS += -DSKMT_LIBDIR='"$(LIBDIR)"'
$(BUILD)/src/knn/ivfpq_plugin.o: $(BUILD)/prefix
$(BUILD)/skmt: $(CLI_OBJ) $(BUILD)/libserver.a $(BUILD)/libcommon.a $(BUILD)/libskmt.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $^ $(APP_LIBS) $(LIBS) -o $@

# Only this library depends on Faiss and on the C++ library. It exports one
# function. It is not compiled with sanitizers, because libfaiss.a is not.
$(BUILD)/skmt-faiss.so: plugins/faiss/skmt_faiss.cc src/knn/faiss_plugin.h
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall -Wextra -Wshadow $(OPT) -g -fPIC -fopenmp \
	    -fvisibility=hidden -Isrc -shared -Wl,--exclude-libs,ALL \
	    -Wl,-z,defs $< -lfaiss -llapack -lblas -o $@

# ---- tests, examples, benchmarks ------------------------------------------

# Debian 12's gcc for aarch64 (12.2) has an internal error in its vectorizer
# on one of the tests.
ifeq ($(ARCH),aarch64)
$(BUILD)/tests/%.o: ALLCFLAGS += -fno-tree-vectorize
endif

# These tests wrap the allocation functions to make allocations fail.
LDFLAGS_test_noalloc = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
    -Wl,--wrap=posix_memalign,--wrap=aligned_alloc,--wrap=strdup,--wrap=mmap
LDFLAGS_test_key_cache = $(LDFLAGS_test_noalloc)
LDFLAGS_test_knn_memory = $(LDFLAGS_test_noalloc)
# This one also wraps the functions that change a file.
LDFLAGS_test_datastore_faults = \
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup \
    -Wl,--wrap=pwrite,--wrap=fdatasync,--wrap=ftruncate

$(BUILD)/tests/unit/%.o: INC += -Iapps
$(UNIT): $(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/unit/main.o \
    $(TOYS:%.c=$(BUILD)/%.o) $(BUILD)/libserver.a $(BUILD)/libcommon.a $(BUILD)/libinternal.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $(LDFLAGS_$*) $^ $(SERVER_LIBS) $(LIBS) -o $@

$(HELPERS) $(BENCHES): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libinternal.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# A program other than skmt that uses apps/common.
$(BUILD)/tests/apps/%.o: INC = -Iinclude -Iapps
$(SECOND): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcommon.a $(BUILD)/libskmt.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# The C examples use the static library, the C++ one the shared library.
$(patsubst %,%.o,$(EXAMPLES)): INC = -Iinclude
$(EXAMPLES): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libskmt.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(EXAMPLES_CC): $(BUILD)/%_cc: %.cc $(BUILD)/libskmt.so include/skmt.h include/skmt_tools.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -Wall -Wextra -Wshadow $(OPT) -g $(SANFLAGS) -Iinclude \
	    $< -L$(BUILD) -lskmt -Wl,-rpath,'$$ORIGIN/..' -o $@

$(BUILD)/tests/fuzz/%.o: INC += -Iapps
$(FUZZERS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libserver.a $(BUILD)/libcommon.a $(BUILD)/libinternal.a
	$(CC) -fsanitize=fuzzer,address,undefined $(LDFLAGS) $^ $(SERVER_LIBS) $(LIBS) -o $@

unit: $(UNIT)
helpers: $(HELPERS) $(SECOND)
examples: $(EXAMPLES) $(EXAMPLES_CC)
benches: $(BENCHES)
fuzzers: $(FUZZERS)
# Without clang the fuzzers can be compiled, but not linked.
fuzz-objects: $(FUZZERS:%=%.o)

# ---- targets for users ------------------------------------------------------

# These targets install what they need and then call make again, because the
# compiler may have been missing before. They use all processors unless -j is
# given.
AGAIN = $(MAKE) --no-print-directory \
        $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

demo:
	@scripts/deps build
	+@$(AGAIN) -s all
	@scripts/demo $(BUILD)

check:
	@scripts/deps build test
	+@$(AGAIN) -s all unit helpers examples fuzz-objects
	@CC='$(CC)' CXX='$(CXX)' SAN='$(SAN)' VERSION='$(VERSION)' scripts/check $(BUILD)

check-san:
	@scripts/deps build test
	+@$(AGAIN) -s SAN=1 unit helpers build/san/skmt
	@CC='$(CC)' CXX='$(CXX)' SAN=1 VERSION='$(VERSION)' scripts/check -u build/san

check-web:
	@scripts/deps build web
	+@$(AGAIN) -s all
	@BUILD='$(BUILD)' tests/web/run

# PYTHON is Debian's python3, which has its packages.
PYTHON ?= /usr/bin/python3
check-python:
	@scripts/deps build python
	+@$(AGAIN) -s all $(BUILD)/tools/tiny_model
	@BUILD='$(BUILD)' PYTHON='$(PYTHON)' python/tests/run

# The pictures of the web page in docs/images.
screenshots:
	@scripts/deps build web
	+@$(AGAIN) -s all
	@BUILD='$(BUILD)' tests/web/run screenshots

check-long:
	@scripts/deps build test long
	@CHECK_LONG_EXTRA='$(CHECK_LONG_EXTRA)' FUZZ_SECONDS='$(FUZZ_SECONDS_LONG)' scripts/check-long
FUZZ_SECONDS_LONG ?= 300
# More commands that check-long runs at its end. Their last line is "N passed, N
# failed, N skipped", or they report failure by their exit status.
CHECK_LONG_EXTRA ?= $(wildcard tests/long/*.sh)

bench:
	@scripts/deps build
	+@$(AGAIN) -s all benches
	@if [ -x bench/run ]; then BUILD=$(BUILD) bench/run; \
	else for b in $(BENCHES); do echo "== $$b"; $$b || exit 1; done; fi

fuzz:
	@scripts/deps build fuzz
	+@$(AGAIN) -s BUILD=build/fuzz CC=clang OPT=-O1 fuzzers \
	    SANFLAGS='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz build/fuzz

MAN_FROM = $(BUILD)/skmt help options
man: $(BUILD)/skmt
	$(MAN_FROM) | awk -f tools/man_options.awk - docs/man/skmt.1 > $(BUILD)/skmt.1
	cp $(BUILD)/skmt.1 docs/man/skmt.1

TO = $(DESTDIR)$(PREFIX)
TOLIB = $(DESTDIR)$(LIBDIR)
install: all
	install -D -m 755 $(BUILD)/skmt $(TO)/bin/skmt
	install -D -m 644 $(BUILD)/libskmt.a $(TOLIB)/libskmt.a
	install -D -m 755 $(BUILD)/libskmt.so $(TOLIB)/libskmt.so.$(VERSION)
	ln -sf libskmt.so.$(VERSION) $(TOLIB)/libskmt.so.$(SOVERSION)
	ln -sf libskmt.so.$(SOVERSION) $(TOLIB)/libskmt.so
	$(if $(PLUGINS),install -D -m 755 $(PLUGINS) $(TOLIB)/skmt/skmt-faiss.so)
	install -D -m 644 include/skmt.h $(TO)/include/skmt.h
	install -D -m 644 include/skmt_tools.h $(TO)/include/skmt_tools.h
	install -d $(TOLIB)/pkgconfig
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	    skmt.pc.in > $(TOLIB)/pkgconfig/skmt.pc
	install -D -m 644 docs/man/skmt.1 $(TO)/share/man/man1/skmt.1
	install -d $(TO)/share/skmt/models
	$(if $(MODELS),install -m 644 $(MODELS) $(TO)/share/skmt/models)
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true

uninstall:
	rm -f $(TO)/bin/skmt $(TO)/include/skmt.h $(TO)/include/skmt_tools.h \
	    $(TO)/share/man/man1/skmt.1
	rm -f $(TOLIB)/libskmt.a $(TOLIB)/libskmt.so $(TOLIB)/libskmt.so.$(SOVERSION) \
	    $(TOLIB)/libskmt.so.$(VERSION) $(TOLIB)/pkgconfig/skmt.pc $(TOLIB)/skmt/skmt-faiss.so
	-rmdir $(TOLIB)/skmt 2>/dev/null
	rm -f $(patsubst models/%,$(TO)/share/skmt/models/%,$(MODELS))
	-rmdir $(TO)/share/skmt/models $(TO)/share/skmt 2>/dev/null

dist:
	@mkdir -p $(BUILD)
	git archive --prefix=skmt-$(VERSION)/ HEAD | xz > $(BUILD)/skmt-$(VERSION).tar.xz

# The prefix is compiled into the program, so the package has its own build.
MULTIARCH = $(shell dpkg-architecture -qDEB_HOST_MULTIARCH)
deb:
	@scripts/deps build deb
	+@$(AGAIN) -s BUILD=build/deb PREFIX=/usr LIBDIR=/usr/lib/$(MULTIARCH) all
	@scripts/deb build/deb $(VERSION)

help:
	@sed -n 's/^#   //p' Makefile

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all fuzz-objects unit helpers examples benches fuzzers demo check check-san check-web check-python screenshots check-long bench fuzz \
        man install uninstall dist deb help clean always
.SECONDARY:
