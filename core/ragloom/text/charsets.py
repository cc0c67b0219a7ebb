"""The charset of a short text, by the language that it would be in each.

Statistics of bytes need kilobytes. Of a few sentences each charset gives another text, and a reader sees
at once which is one: its letters are those of its language, capitals begin words, and its ideographs
are common ones. The language is py3langid's, the common ideographs are the first levels of the
national standards (GB 2312, Big5, JIS X 0208), which order by use.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

_ALPHABETS: Final[Mapping[str, str]] = {
    "cs": "áčďéěíňóřšťúůýž",
    "da": "æøåé",
    "de": "äöüß",
    "en": "éèêçñöüïæôà",
    "es": "áéíñóúü¿¡ªº",
    "fi": "äöå",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "it": "àèéìîòù",
    "nl": "éëïöèüá",
    "no": "æøåé",
    "nb": "æøåé",
    "pl": "ąćęłńóśźż",
    "pt": "ãáàâçéêíõóôúü",
    "ro": "ăâîşţșț",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sv": "åäöé",
    "tr": "çğıöşüİâîû",
    "ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
    "uk": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "bg": "абвгдежзийклмнопрстуфхцчшщъьюя",
    "el": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
}
_WESTERN: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "da", "no", "nb", "sv", "fi")
_CENTRAL: Final = ("cs", "pl", "sk", "hu", "hr", "sl", "ro", "de")
_SINGLE: Final[Sequence[tuple[str, Sequence[str]]]] = (
    ("cp1252", _WESTERN),
    ("iso8859_2", _CENTRAL),
    ("cp1250", _CENTRAL),
    ("cp1251", ("ru", "uk", "bg")),
    ("koi8_r", ("ru",)),
    ("koi8_u", ("uk",)),
    ("cp866", ("ru",)),
    ("cp1253", ("el",)),
    ("iso8859_7", ("el",)),
    ("cp1254", ("tr",)),
)
_COMMON: Final = frozenset("оеаинтсрвлαοιετσνηυρ")
_LATIN: Final = frozenset("áäåæéöüšćč")
_ACCENTED: Final = frozenset("άέήίόύώΐΰ")
_TYPOGRAPHIC: Final = frozenset("\u00a0‚„“”‘’–—…«»‹›•°§©®™€№·´")

_FREQUENT: Final[Mapping[str, frozenset[str]]] = {
    "gb18030": frozenset(
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
        "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
        "日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政"
        "，。、；：？！（）《》“”"
    ),
    "big5": frozenset(
        "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
        "用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實"
        "日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政"
        "，。、；：？！（）《》「」"
    ),
    "cp932": frozenset("、。「」ー・日本人大年一国会中月出時行生事分者")
    | frozenset(map(chr, range(0x3041, 0x3097))),
    "euc_kr": frozenset(
        "이다는에의을를가고한지기사하은로도서어자인그나리해들대수있아시으일니정스과와만면게"
    ),
}
_LEVELS: Final = (
    # charset, the standard's own codec, lead bytes of its first level, languages
    ("gb18030", "gb2312", (0xB0, 0xD7), ("zh",)),
    ("big5", "big5", (0xA4, 0xC6), ("zh",)),
    ("cp932", "euc_jp", (0xB0, 0xCF), ("ja",)),
    ("euc_jp", "euc_jp", (0xB0, 0xCF), ("ja",)),
    ("euc_kr", "euc_kr", (0xB0, 0xC8), ("ko",)),
)
_SAMPLE: Final = 4096  # characters that are weighed
_SURE: Final = 0.9  # the least share of what looks right
_LEAST: Final = 0.6  # the least share of letters that stand where they may
_FOREIGN: Final = 0.3  # how wrong a letter of a neighbouring language is, as in a name
_LANGUAGE: Final = 0.2  # what the language adds, where it is one of the charset's


def vote(content: bytes) -> str | None:
    """The charset in which ``content`` is most like a text; None where none of them is.

    Args:
        content: Bytes that are not UTF-8.
    """
    votes: list[tuple[float, str]] = []
    for charset, languages in _SINGLE:
        if (text := _decoded(content, charset)) is not None:
            votes.append((_alphabetic(text, languages), charset))
    for charset, codec, leads, languages in _LEVELS:
        if (text := _decoded(content, charset)) is not None:
            votes.append((_ideographic(text, charset, codec, leads, languages), charset))
    best, charset = max(votes, key=lambda one: one[0], default=(0.0, ""))
    return charset if best >= _SURE else None


def _decoded(content: bytes, charset: str) -> str | None:
    try:
        return content.decode(charset)[:_SAMPLE]
    except UnicodeDecodeError:
        return None


def _ranked(text: str) -> list[str]:
    """Languages, the most probable first."""
    import py3langid

    return [language for language, _ in py3langid.rank(text)]


def _alphabetic(text: str, languages: Sequence[str]) -> float:
    """How much a text in an alphabet looks like one of its languages."""
    ranked = _ranked(text)
    language = next((one for one in ranked if one in languages), languages[0])
    alphabet = frozenset(_ALPHABETS[language])
    near = frozenset().union(*(_ALPHABETS[one] for one in languages))
    good = common = small = 0
    bad = 0.0
    before = " "
    for character in text:
        if character > "\x7f" and character not in _TYPOGRAPHIC:
            lower = character.lower()
            if lower in alphabet or character in alphabet:
                good += 1
                common += lower in _COMMON
                small += character.islower()
            elif lower in near:
                bad += _FOREIGN
            else:
                bad += 1 if character.isalpha() else 2
        bad += _is_odd(before, character, other_script=not alphabet & _LATIN)
        before = character
    if not good:
        return 0.0
    if language == "el" and not any(character in _ACCENTED for character in text.lower()):
        bad += good  # each word of two syllables has an accent
    share = good / (good + bad)
    if share < _LEAST:
        return 0.0
    frequent = common / good / 2 if language in ("ru", "uk", "bg", "el") else 0.0
    return share + frequent + small / good / 10 + _LANGUAGE * (ranked[0] == language)


def _is_odd(before: str, character: str, *, other_script: bool) -> bool:
    """Whether two characters do not stand side by side in words."""
    if not before.isalpha() or not character.isalpha() or max(before, character) <= "\x7f":
        return False
    mixed = other_script and min(before, character) <= "\x7f"
    return mixed or before == "ς" or (before.islower() and character.isupper())


def _ideographic(
    text: str, charset: str, codec: str, leads: tuple[int, int], languages: Sequence[str]
) -> float:
    """How much a text looks like Chinese, Japanese or Korean."""
    frequent = _FREQUENT.get(charset, _FREQUENT["cp932"])
    good = bad = often = 0
    for character in text:
        if character <= "\x7f":
            continue
        if character in frequent:
            often += 1
            good += 1
        elif "\uff61" <= character <= "\uff9f" or "\ue000" <= character <= "\uf8ff":
            bad += 1  # halfwidth kana, which few write, and characters of nobody
        elif unicodedata.category(character) in ("Po", "Ps", "Pe", "Pd", "Nd", "Zs") or (
            "\u30a1" <= character <= "\u30fe" and "ja" in languages
        ):
            good += 1
        else:
            encoded = character.encode(codec, "ignore")
            is_common = len(encoded) > 1 and leads[0] <= encoded[0] <= leads[1]
            good += is_common
            bad += not is_common
    if not good:
        return 0.0
    known = _LANGUAGE * (_ranked(text)[0] in languages)
    return good / (good + bad) + often / good + known
