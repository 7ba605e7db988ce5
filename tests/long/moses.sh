#!/bin/bash
# moses.sh - compare BPE tokenizers with Moses rules with their reference on
# 20,000 lines (see tests/unit/moses_oracle.sh): 5,000 of each of four kinds.
cd "$(dirname "$0")/../.." || exit 1
exec tests/unit/moses_oracle.sh -l 5000
