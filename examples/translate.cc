// translate.cc - uses the library from C++, with handles that free themselves.
//
//     c++ translate.cc $(pkg-config --cflags --libs skmt) -o translate
//     ./translate de-en.skmt 'Guten Morgen!' 'Vielen Dank.'
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <skmt.h>

struct closer {
    void operator()(skmt_model *m) const { skmt_model_close(m); }
    void operator()(skmt_session *s) const { skmt_session_free(s); }
    void operator()(skmt_result *r) const { skmt_result_free(r); }
};

class translator {
public:
    explicit translator(const char *path)
    {
        skmt_error err;
        skmt_model *m = nullptr;
        skmt_session *s = nullptr;

        if (skmt_model_open(&m, path, &err))
            throw std::runtime_error(err.message);
        model_.reset(m);
        if (skmt_session_new(&s, m, nullptr, &err))
            throw std::runtime_error(err.message);
        session_.reset(s);
    }

    std::string operator()(const std::string &text)
    {
        skmt_error err;
        skmt_result *r = nullptr;

        if (skmt_session_translate(session_.get(), text.c_str(), nullptr, &r,
                                   &err))
            throw std::runtime_error(err.message);
        std::unique_ptr<skmt_result, closer> result(r);
        return skmt_result_text(r, 0);
    }

private:
    // The model is declared first, so that it is freed after the session.
    std::unique_ptr<skmt_model, closer> model_;
    std::unique_ptr<skmt_session, closer> session_;
};

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::cerr << "usage: translate MODEL TEXT ...\n";
        return 2;
    }
    try {
        translator translate(argv[1]);
        for (int i = 2; i < argc; i++) std::cout << translate(argv[i]) << '\n';
    } catch (const std::exception &e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
    return 0;
}
