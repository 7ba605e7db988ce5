// ct2_speed.cc - measures the speed of CTranslate2 for bench/large.sh.
//
//     ct2_speed DIR TOKENS TYPE BEAM BATCH LENGTH
//
// TOKENS is a file of source pieces, separated by spaces, with a sentence on
// each line. Each translation has at most LENGTH pieces. One thread computes.
// Prints one line of JSON with keys of bench/decode. As there, opening the model
// is not timed, and a first batch is translated untimed. cpu_seconds is the CPU
// time of the process.
#include <ctranslate2/translator.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <sstream>

namespace {

using Sentences = std::vector<std::vector<std::string>>;

Sentences read_sentences(const char* path) {
  std::ifstream in(path);
  Sentences out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    out.emplace_back();
    for (std::string token; words >> token;) out.back().push_back(token);
  }
  if (out.empty()) throw std::runtime_error(std::string("no lines: ") + path);
  return out;
}

double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double peak_rss_mb() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(&line[6]) / 1024;
  return 0;
}

// The arguments are TYPE BEAM BATCH LENGTH.
void measure(ctranslate2::Translator& t, const Sentences& text, char** argv) {
  const size_t batch = std::strtoul(argv[2], nullptr, 10);
  ctranslate2::TranslationOptions o;
  o.beam_size = std::strtoul(argv[1], nullptr, 10);
  o.max_decoding_length = std::strtoul(argv[3], nullptr, 10);
  const Sentences first(text.begin(),
                        text.begin() + std::min(batch, text.size()));
  t.translate_batch(first, o, batch);
  const double wall = seconds(CLOCK_MONOTONIC);
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  size_t tokens = 0;
  for (const auto& result : t.translate_batch(text, o, batch))
    tokens += result.output().size();
  std::printf("{\"engine\":\"ctranslate2\",\"compute_type\":\"%s\","
              "\"beam\":%zu,\"batch\":%zu,\"sentences\":%zu,"
              "\"output_tokens\":%zu,\"seconds_best\":%.4f,"
              "\"cpu_seconds\":%.4f,\"max_rss_mb\":%.1f}\n",
              argv[0], o.beam_size, batch, text.size(), tokens, seconds(CLOCK_MONOTONIC) - wall,
              seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, peak_rss_mb());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: ct2_speed DIR TOKENS TYPE BEAM BATCH LENGTH\n");
    return 2;
  }
  const Sentences text = read_sentences(argv[2]);
  ctranslate2::set_num_threads(1);
  ctranslate2::models::ModelLoader loader(argv[1]);
  loader.compute_type = ctranslate2::str_to_compute_type(argv[3]);
  ctranslate2::Translator translator(loader.load(), {1, 0, -1});
  measure(translator, text, argv + 3);
} catch (const std::exception& e) {
  std::fprintf(stderr, "ct2_speed: %s\n", e.what());
  return 1;
}
