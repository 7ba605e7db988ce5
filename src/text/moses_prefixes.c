/* moses_prefixes.c - lists of abbreviations, and what is not worth listing:
 * single letters, Roman numerals, ordinal numbers.
 *
 * The words of a list are divided by single spaces. Case matters. */
#include "text/moses_prefixes.h"

#include <string.h>

#include "base/invariant.h"
#include "text/utf8.h"

struct moses_prefixes {
    const char *language;
    uint32_t letters_end;       /* single letters below it are abbreviations */
    unsigned flags;
    const char *always, *numeric;
};

enum {
    CAPITALS = 1,               /* single capital letters */
    SMALLS = 2,                 /* single small letters */
    ROMAN = 4,                  /* Roman numerals up to 39 */
    ORDINALS = 8                /* numbers from 1 to 99: "3. Mai" */
};

/* English must be the first. Words with a full stop inside need no place in
 * the lists: they always keep the last one ("z.B."). */
static const struct moses_prefixes prefix_lists[] = {
    { "en", 0x80, CAPITALS,
      " Adj Adm Adv Apr Asst Aug Bart Bldg Brig Bros Capt Cmdr Col Comdr Con"
      " Corp Cpl DR Dec Dr Drs Ens Feb Gen Gov Hon Hosp Hr Insp Jan Jul Jun"
      " Lt MM MR MRS MS Maj Mar Messrs Mlle Mme Mr Mrs Ms Msgr Nos Nov Nr"
      " Oct Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rs Rt Sen Sens Sep Sfc"
      " Sgt Sr St Supt Surg rev v vs ",
      " Art No pp " },
    { "de", 0x180, CAPITALS | SMALLS | ROMAN | ORDINALS,
      " Abb Abg Abs Abschn Abt Adj Adm Adv Anm Apr Art Asst Aufl Aug Az BGBl"
      " Bart Bd Bde Bhf Bldg Brig Bros Bsp Capt Chr Cmdr Co Col Comdr Con"
      " Corp Cpl DR Dez Dipl Dir Doz Dr Drs Ens Evtl Fa Fam Feb Febr Fr Frl"
      " Gebr Gen Gov Hbf Hd Hg Hosp Hptm Hr Hrn Hrsg Hs Ing Inh Insp Jan Jg"
      " Jh Jhd Jr Jul Jun Kap Kfm Lt MM MR MRS MS Mag Maj Mar Med Messrs Mio"
      " Mlle Mme Mr Mrd Mrs Ms Msgr Mwst Nov Nr Nrn Okt Op Ord Pfc Ph Pkt"
      " Priv Prof Präs Pvt Reg Rep Reps Res Rev Rn Rs Rt Rz Sen Sens Sep"
      " Sept Sfc Sgt Sr St Std Str Supt Surg Tab Tel Tsd Univ Vol Vors Ziff"
      " Zt aD allg amerik anschl asp bes betr bez bspw bzgl bzw ca dgl dt"
      " ehem eigtl einschl engl entspr etc ev evtl exkl ff frz geb gegr gem"
      " gest ggf hg hl hrsg incl inkl insb insbes iwS jew kath lfd lt max"
      " mil min mind mtl möbl nat phil rd rer resp rev röm sen sog spez st"
      " staatl stellv str tel tägl ugs urspr usf usw verh vgl vllt vorm vs"
      " wg zB zit zool zus zw zzgl zzt österr ",
      "" },
    { "fr", 0x180, CAPITALS,
      " Dr Drs MM Me Mgr Mlle Mlles Mme Mmes Mr Ms Nb Pr St Ste al ann apr"
      " auj av boul ca cf chap coll doc dép env etc ex fasc fig hab hebd id"
      " inf janv juill lat lib litt masc max min nb obs oct part pl pop prof"
      " préf quart resp réf seq sq suiv sup suppl tr tél vol vs éd ",
      " No Nos art n no nos p pp " },
    { "es", 0x180, CAPITALS,
      " Av Avda Bs Cmte Cnel Col Cía Dr Dra Dras Drs Esc Exc Excmo Fdo Fr"
      " Fray Gral Hnos Hs Ilmo Ing Insp Lcdo Lda Lic Ltda Mons Mr Mrs Mtro"
      " Op Pdte Prof Profa Pte Rev Rvdo Sgto Sr Sra Sras Sres Srta Srtas Sta"
      " Sto Stos Tel Tte Ud Uds Vd Vda Vds abr abrev adj adm aero ambi an"
      " anfib ap apdo art arz av avda bs ca cap cm cof col cía dic dpto dr"
      " dra drs ed ej ene entlo etc fdo feb fig gob gral hno hnos ing jul"
      " jun kg km lic med min mons máx mín nov oct pból pdte ppal prof prov"
      " pág págs párr rev sept sr sra sres srta subj sáb tel tte ud uds vd"
      " vda vds vol vto ",
      " Art No Nro Núm n no nro núm p pp " },
    { "it", 0x180, CAPITALS,
      " Adj Adm Amn Arch Asst Avv Bart Bcc Bldg Brig Bros CAP CC Capt Cc"
      " Cmdr Co Col Comdr Con Corp Cpl DR Dott Dr Drs Dssa Egr Ens Gen Geom"
      " Gov Hon Hosp Hr Id Ing Insp Lt MM MR MRS MS Maj Messrs Mlle Mme Mo"
      " Mons Mr Mrs Ms Msgr Op Ord Pfc Ph Pres Prof Proff Prot Pvt RP RSVP"
      " Rag Rep Reps Res Rev Rif Rp Rs Rt Sen Sens Sfc Sgt Sig Sigg Soc Sr"
      " St Stim Supt Surg abbr acc almeno amm arch art avv brev ca cap cfr"
      " cod coll corr dott ecc es etc fasc fig gent geom id ing int leg lett"
      " loc lug max med min mitt mod nn op pag pagg par prof pubbl rag rev"
      " ric rist sec seg segg sez sig sigg spett tav tel ten univ vol voll"
      " vs ",
      " Art No Nos n nr pp " },
    { "pt", 0x180, CAPITALS | SMALLS | ROMAN,
      " Adj Adm Adv Art Ca Capt Cmdr Col Comdr Con Corp Cpl DR DRA Dr Dra"
      " Dras Drs Eng Enga Engas Engos Ex Exa Exmo Fig Gen Hosp Insp Lda Lt"
      " MM MR MRA MRS MS Maj Mlle Mme Mr Mra Mras Mrs Ms Msgr Op Ord Pfc Ph"
      " Prof Profa Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr Sra Sras Srs"
      " Srta Srtas Sto Supt Surg Univ adj adm adv av bit bras cap cf cfr col"
      " dep dir dr dra dras drs ed eng enga etc ex exa exmo fig hab ilmo"
      " insp jr lda mr mra mras mrs máx méd mín obs op org pag pal prep prof"
      " profa pág págs ref rep sec sr sra sras srs sto séc tel trad univ vol"
      " vs ",
      " No Nos Núm n no nos núm p pp " },
    { "nl", 0x180, CAPITALS | SMALLS | ROMAN,
      " Adj Apr Aug Bart Bros Capt Co Corp DR Dec Dhr Dr Drs Fa Feb Gebr Hr"
      " Inc Ing Ir Jan Jhr Jkvr Jr Jul Jun Kon Lic Lt MM MR MRS MS Mej Mevr"
      " Mgr Mr Mrs Ms Msgr Ned Nl Nov Oct Okt Phd Prof Rev Sen Sep Sr St Str"
      " Surg aanw acc adj afb afd afl afz alg amb apr arr art ass bc bett"
      " bez bijl bijv bijz bl blz bv bvb bvt bz ca dd dhr dir dr dra drs dwz"
      " ed eig eng enz etc ev evt ex fam fig fr geb gebr gem gen hd hfdst"
      " incl ing inh inst ir jhr jl jr kath kol lic lt ltd mej mevr mgr mil"
      " min mld mln mr mw nat ned nl nom ob ong op opm par plv prof prot rek"
      " resp sec sen st str tel uitg vb vgl vnl vol voorz vs wd zgn zog ",
      " Nr Nrs nr nrs " },
    { "sv", 0x180, CAPITALS,
      " AB Dr Fr Hr Jr Prof St adj anm apr art aug avd ca chefred co dec doc"
      " dr dvs ed etc ev exkl feb fig forts förf gm ing inkl jan jfr jr kap"
      " kl kr lic max milj min mos mrd mån nov obs okt osv pl proc prof resp"
      " sek sept sing sk skr st tel tfn tim tr uppl vard vol äv övers ",
      " No Nr nr s sid " },
    { "fi", 0x180, CAPITALS,
      " alik alil amir ao apul ark arkkit arv as dipl dos ed eil eläk em ent"
      " esim et evl evp hist hum huom huonek ilm ins jatk jms jne joht julk"
      " kapt kaup kenr kers kirj ko kok kpl kpt ks kt lab lat leht liitt lis"
      " lk luutn lyh läh maist maj maks metsänh milj mm mrd mv nimim ns nyk"
      " op opp os oy past prof pros puh päiv rak rap red rva ry so synt tark"
      " tekn tod toht toim tri ts tuom vas vast virk vrt vs vt yht yl ylik"
      " yliop ym yms yo ",
      " No n:o nro s " },
    { "cs", 0x180, CAPITALS,
      " Bc BcA CSc Dis Doc Dr DrSc Ing JUDr MUDr MVDr MgA Mgr PaedDr PhD"
      " PhDr PharmDr Prof RNDr St Sv ThDr ThLic aj angl apod atd cca doc dr"
      " fa fax fr gen hl již kap kl kol kpt lat mj mjr např np npor nám něm"
      " obr ods odst par plk popř por pozn pplk prof písm přibl příp red"
      " resp roč rus sev spol stol sv tab tel tj tzn tzv ul vl vyd vých zejm"
      " zkr záp čl čp čs řec ",
      " No s str č čís " },
    { "sk", 0x180, CAPITALS | ROMAN,
      " ArtD Bc CSc Doc Dr DrSc Ing JUDr MDDr MUDr MVDr Mgr PaedDr PhD PhDr"
      " PharmDr Prof RNDr Sv ThDr ThLic akc al angl apod arch atd atď cca"
      " dipl doc fr gen gr hl kap kpt lat mjr napr nem npor nám obr ods plk"
      " pod pozn pplk prof príp písm red resp roč spol sv tab tel tj tzn tzv"
      " ul vyd zast zn zv čl ",
      " No s str č čís " },
    { "sl", 0x180, CAPITALS | SMALLS | ROMAN,
      " Doc Dr Mag Prof Sv akad apr avg dec dipl doc dr feb ga gdč gos ing"
      " inž ipd itd itn jan jul jun mag mio mrd ned nov npr obl odst ok okr"
      " okt op opr oz oziroma pog prim prof roj sek sept ses sob sod spec"
      " spr sv tel tim tip tj tki tkim tor tč ul univ zal zg zv čl ",
      " No str št " },
    { "hu", 0x180, CAPITALS | ROMAN,
      " Bp Dr Id Ifj Mo Mr Mrs Ms Prof St Sz Szt alez aug bek bp ca cca dec"
      " dr em ezr febr fhdgy ford fsz főhdgy gen gr hdgy id ifj ill illetve"
      " jan júl jún ker kiad krt max min máj márc nov okl okt pl prof rkp"
      " stb szds szept szerk szt tel tszf tv tvr tzls uo utca uő vb vs vö"
      " zls Özv Ún ápr átl özv ún út őrgy ",
      " No kb o old sz " },
    { "pl", 0x180, CAPITALS | SMALLS | ROMAN,
      " adw afr akad alb alt ang ap apost arch art artyst astr austr bał"
      " białor blm bot bp br bryg bulg cen cerkiew chem chiń chor chorw cz"
      " czes dca dcn dent dhr dn doc dosł dot dr dyr dyw dz dł ekon elektr"
      " ew fil filoz fin fiz fot franc gat gen geogr geol gimn gm godz gr"
      " gram głęb hist hiszp hr iloś im in inż itd itp jap jedn ję język kap"
      " kard kg kier kl kler kol kpt kr krak ks ktt kuj lek lit maks mat mec"
      " med mgr mies min mjr mn mos muz najśw nast nb ndl niem niż nm nn np"
      " nt nw ob ol op opr oprac os ozn pchor pcs pd pl plk pn pocz pol pom"
      " pon por pow pp ppor ppłk prez prof prok prow prz przen przyp ps pt"
      " płd płk płn rar red reż rkpś ros rozdz rp rtm rum rys rz rzym sam"
      " sekr sen serb sierż sl slow st stol str sygn szer szp szt szw tab"
      " tel tow tur tyg tys tzn tzw ukr ul up ust ustawa vs wew wg wlk wol"
      " wsp wst wyd wys wz właść zb zbig zm zw zł łac śl śp śr źródł żeń żyd ",
      " No nr nry poz s t " },
    { "ro", 0x180, CAPITALS | SMALLS,
      " Bd Conf Dr Dvs Ing Lect Prof Sf St Str alin ap apr aprox arh aug bd"
      " bl cap cca conf d-l d-na d-ra dec dl dna doc dpdv dr dvs ed et etc"
      " feb gen ian ing iul iun jud lect lit mart max min mun noiembr nov"
      " oct pct pg prof red sc sect sept sf str tel trad univ vol ",
      " No Nr art nr p pag pp " },
    { "ca", 0x180, CAPITALS,
      " Av Avda Cia Dr Dra Dres Drs Exc Excm Excma Hble Il·lm Il·lma Mn Prof"
      " Sr Sra Sres Srs Srta St Sta Sto abr ag aprox av avda bibl ca cap cf"
      " cfr cia col coord ctra dc dept des dg dj dl dm ds dv ed etc ex febr"
      " fig gen ibíd id jul mn màx mín nov obs oct op pg pl pp prof ptge"
      " pàgs pça ref set tel trad vol vols vs íd ",
      " No art n núm p pàg " },
    { "ga", 0x180, CAPITALS,
      " Bean Co Dr Iníon Mr Mrs Ms Ollamh Sr St Teo Uas Uasal agus dr fch"
      " fig iml lgh ll srl ",
      " No Uimh lch uimh " },
    { "is", 0x180, CAPITALS | SMALLS,
      " Dr ab acc afg afr afs afst ag alm amk and apr ath bs dags des dr dul"
      " eftirf eink ensk et feb febr fl flt fr frh frk frv fél gegn gr hdl"
      " hf hgr hk hr ibm jan júl jún kap kg kl km kr kvk lb lh lo lýs mgr"
      " millj milljj ml mm mrd mín nf nfn nk nl nt nóv núv ob obf ofl okt"
      " osfrv pr próf prósh rn rv samb sbr sek sept sf sh sk skst skv skýr"
      " sl sr sra st sérn sþ tab tbl td tl tlf ums uppl utl vl vs ágú ísl öf"
      " þgf þús þýsk ",
      " No bls nr s " },
    { "lv", 0x180, CAPITALS,
      " Dir Doc Dr Prof Sv akad apm apr asoc atb aug biol bulv dec dir doc"
      " dr ekon febr fil filol god iel inž izd janv jur jūl jūn k-gs kand"
      " kdze kgs kpt lekt ltn mag maj med milj mljrd nod nov okt pag pants"
      " ped piem pilnv plk plkv proc prof prosp psih raj red resp rj sast"
      " sept sk skat sv sēj tehn tulk tālr tūkst utml utt vēst ģen ķīm šos"
      " šķ ",
      " Nr lpp nr " },
    { "lt", 0x180, CAPITALS | SMALLS | ROMAN,
      " abs adv akad alk ang anot apie aps apsk apygd arch archit art asist"
      " asp ats aut bal bdv bibl biol bot br bt buh bus dab dail dek dem dep"
      " desk dial dir dirig doc dok dot dr drp dskr egz eil el etc ez ež fak"
      " faks fil gatv geogr geol gg gim gv gyd gyv hab habil ins inv inž isp"
      " ist isz kand kap kard kat kl kln kpt kt kun kv kyš lab lat lenk liet"
      " lig lot ltn maj mat med men mgr min mjr mln mlrd mob mok moksl mst"
      " mstl mėn nar nkt nuot obj oda pakr pav pirm pl plg plk pr pran prez"
      " prof prot publ pusl pvz pvž rad raj red rež rt rus rš sav saviv sek"
      " sekr sen ser serž sim sk skg skv skyr sp spec sr st str stud sub"
      " sudėt svv sąs tarpt techn tel tir trp tv tūkst up upl vad val vald"
      " valg ved vert vid viet vok vs vt vtv vv įm įn įsk žml žr ",
      " No Nr nr p psl " },
    { "et", 0x180, CAPITALS,
      " Dr Hr Prof akad apr aug ca dets dots dr eKr hr hrl ins jaan jm jms"
      " jne jt kapt kol kt lg lp ltn mag min mjr mld mln mnt muuh muuhulgas"
      " nov nt näit okt om omad pKr pms pr prof pst ptk sept sh sks so st"
      " tel tlk tn toim trükk tuh va veebr vm vms vrd vt ",
      " No lk nr p " },
    { "el", 0x400, CAPITALS | SMALLS,
      " Άγ Αγ Απρ Αυγ Δίδα Δεκ Δρ Ιαν Ιουλ Ιουν Καθ Λεωφ Μαρ Μαϊ Νοε Οδ Οκτ"
      " Πλ Σεπ Σημ Συν Υπ Φεβ άρθ έκδ ήτοι αγ αι αρθ βλ δίδα δηλ δις δισ δρ"
      " εκατ εκδ κα καθ κλπ κος κτλ κων λεωφ μτγν μτφ οδ παρ περ πλ πρβλ πχ"
      " σημ συν τηλ τομ τόμ υπ υποδ υπολ χιλ ",
      " No Αρ αρ αριθ σ σελ σσ " },
    { "ru", 0x500, CAPITALS | SMALLS | ROMAN,
      " Ашх Вост Ген Ева Кв Кн Проф Св Сокр абл адм акад англ бул бульв вв"
      " вкл вост вс г-жа г-н ген гос гр град деп дер дес див др ед зав зам"
      " заоч изд ил им инж кв кит кн кол ком комн кор корп лаб лат лит макс"
      " мед мин мл млн млрд наб напр нем обл обр общ оз ок оп орг отд офиц"
      " пер под подп пол полк пос пр-т прим прол просп проф проц рад разг"
      " рис род росс руб сан сб св сев сек см сокр соц соч ср тел тов тт туп"
      " тыс уд ул ум уст физ фр хор хут экз экон юж яз ",
      " No гл п пп с ст стр т ч № " }
};

static const struct moses_prefixes *english(void) { return &prefix_lists[0]; }

const struct moses_prefixes *moses_prefixes_of(const char *language)
{
    size_t n = sizeof prefix_lists / sizeof *prefix_lists;

    for (size_t i = 0; i < n; i++)
        if (!strcmp(prefix_lists[i].language, language))
            return &prefix_lists[i];
    return english();
}

static bool prefix_list_has(const char *list, struct str word)
{
    size_t n = strlen(list);
    const char *at = list, *hit;

    while ((hit = memmem(at, n - (size_t)(at - list), word.p, word.n))) {
        if (hit > list && hit[-1] == ' ' && hit[word.n] == ' ') return true;
        at = hit + 1;
    }
    return false;
}

static bool is_letter_of(const struct moses_prefixes *p, struct str word)
{
    static const struct moses_alphabet all = { .perl = true };
    int len;
    uint32_t cp = utf8_next(word.p, word.n, &len);
    unsigned c = moses_class(&all, cp);

    if ((size_t)len != word.n || cp >= p->letters_end || !(c & MC_ALPHA))
        return false;
    return p->flags & (c & MC_SMALL ? SMALLS : CAPITALS);
}

static bool is_roman(struct str word)
{
    static const char *const ones[] = {
        "", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"
    };
    size_t tens = 0;

    while (tens < 3 && tens < word.n && word.p[tens] == 'X') tens++;
    for (size_t i = 0; i < 10; i++)
        if (str_eq(str_of(ones[i]),
                   (struct str){ word.p + tens, word.n - tens })) return true;
    return false;
}

static bool is_ordinal(struct str word)
{
    if (word.n < 1 || word.n > 2 || word.p[0] == '0') return false;
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] < '0' || word.p[i] > '9') return false;
    return true;
}

enum moses_prefix moses_prefix_kind(const struct moses_prefixes *p,
                                    struct str word)
{
    assert(word.n > 0);
    if (memchr(word.p, ' ', word.n)) return PREFIX_NONE;
    if (is_letter_of(p, word) || (p->flags & ROMAN && is_roman(word))
        || (p->flags & ORDINALS && is_ordinal(word))
        || prefix_list_has(p->always, word)) return PREFIX_ALWAYS;
    return prefix_list_has(p->numeric, word) ? PREFIX_NUMERIC : PREFIX_NONE;
}
