#!/bin/bash
# spm.sh - compare the tokenizer with SentencePiece on 20,000 lines of each
# kind (see tests/unit/spm_oracle.sh).
cd "$(dirname "$0")/../.." || exit 1
exec tests/unit/spm_oracle.sh -l 20000
