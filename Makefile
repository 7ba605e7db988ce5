# skmt - make help lists what can be made.
#
#   make            build/skmt, build/libskmt.so, build/libskmt.a
#   make SAN=1      the same with the address and undefined sanitizers
#   make BUILD=dir  objects elsewhere (cross builds, several at a time)

VERSION  = 0.1.0
SOVERSION = 0
BUILD   ?= $(if $(SAN),build/san,build)
PREFIX  ?= /usr/local
DESTDIR ?=

CC      ?= gcc
AR      ?= ar
OBJCOPY ?= objcopy
LD      ?= ld
ARCH    := $(shell $(CC) -dumpmachine | cut -d- -f1)

WARN    = -Wall -Wextra -Wshadow -Wstrict-prototypes
OPT    ?= -O2
SANFLAGS = $(if $(SAN),-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALLCFLAGS = -std=c17 -D_GNU_SOURCE $(WARN) $(OPT) -g -fPIC -pthread \
            -fvisibility=hidden -ffp-contract=off -fno-math-errno $(SANFLAGS) \
            -DSKMT_VERSION='"$(VERSION)"' $(CFLAGS)
INC      = -Isrc -Iinclude
LIBS     = -ljansson -lutf8proc -lm -pthread

# Vector kernels are compiled for their ISA and chosen at run time; nothing
# else may use more than the architecture's baseline.
ISA_avx2   = -mavx2 -mfma -mf16c
ISA_avx512 = -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma
X86_ONLY   = src/tensor/cpu/avx2.c src/tensor/cpu/avx512.c

LIB_SRC := $(wildcard src/*/*.c src/*/*/*.c)
ifneq ($(ARCH),x86_64)
LIB_SRC := $(filter-out $(X86_ONLY),$(LIB_SRC))
endif
CLI_SRC  := $(wildcard apps/cli/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))

all: $(BUILD)/skmt $(BUILD)/libskmt.so $(BUILD)/libskmt.a

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) $(ISA_$(notdir $*)) $(INC) -MMD -MP -c $< -o $@

# Everything inside, for unit tests: internal names visible.
$(BUILD)/libinner.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/unit/main.o $(BUILD)/libinner.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $(LDFLAGS_$*) $^ $(LIBS) -o $@

unit: $(UNIT)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all unit
.SECONDARY:
