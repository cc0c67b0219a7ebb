"""Bytes to text: every byte accounted for, no character replaced silently."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import SourceError
from ragloom.text.decoding import decode

PHRASES = {
    "cp1252": "Über die Größe – naïve “café” déjà vu",
    "cp1250": "příliš žluťoučký kůň úpěl ďábelské ódy",
    "cp1251": "Документы разбиваются на части и ищутся по словам",
    "koi8-r": "Документы разбиваются на части и ищутся по словам",
    "cp932": "文書を分割し、ベクトル索引に書き込む。検索はその索引を使う。",
    "euc_jp": "文書を分割し、ベクトル索引に書き込む。検索はその索引を使う。",
    "gb18030": "将文档切分为块，并写入向量索引。搜索使用该索引。",
    "big5": "將文件切分為區塊，並寫入向量索引。搜尋使用該索引。",
}


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_and_is_no_text(mark: bytes, encoding: str) -> None:
    decoded = decode(mark + "# Ü\r\n𝄞".encode(encoding))
    assert ("# Ü\r\n𝄞", encoding, len(mark)) == (decoded.text, decoded.encoding, decoded.bom)
    assert () == decoded.warnings


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf8_comes_back_whole(text: str) -> None:
    if text.startswith("\ufeff"):
        return
    decoded = decode(text.encode())
    assert (text, "utf-8", 0, True, ()) == (
        decoded.text,
        decoded.encoding,
        decoded.bom,
        decoded.exact,
        decoded.warnings,
    )


@given(st.binary())
def test_any_bytes_are_text_or_a_stated_reason(content: bytes) -> None:
    try:
        decoded = decode(content)
    except SourceError:
        return
    if "\ufffd" in decoded.text:
        assert "\ufffd".encode(decoded.encoding) in content
    if decoded.exact:
        assert content == content[: decoded.bom] + decoded.text.encode(decoded.encoding)
    else:
        assert decoded.warnings


@pytest.mark.parametrize("encoding", PHRASES)
def test_a_guessed_charset_is_right_and_named(encoding: str) -> None:
    content = f"# {PHRASES[encoding]}\n\n{PHRASES[encoding]}\n".encode(encoding)
    decoded = decode(content)
    assert f"# {PHRASES[encoding]}\n\n{PHRASES[encoding]}\n" == decoded.text
    assert decoded.exact
    (warning,) = decoded.warnings
    assert decoded.encoding in warning


def test_one_byte_says_nothing_and_is_cp1252() -> None:
    decoded = decode(b"caf\xe9 in the text")
    assert ("café in the text", "cp1252") == (decoded.text, decoded.encoding)
    assert decoded.warnings


def test_utf8_with_a_wrong_byte_keeps_the_rest() -> None:
    decoded = decode("Größe über alles\n".encode() + b"\xff\n")
    assert "Größe über alles\nÿ\n" == decoded.text
    assert not decoded.exact
    assert "0xFF" in decoded.warnings[0]


def test_shift_states_have_no_exact_bytes() -> None:
    decoded = decode("検索の設計\n".encode("iso2022_jp"))
    assert ("検索の設計\n", False) == (decoded.text, decoded.exact)
    assert decoded.warnings


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
        bytes(range(256)) * 4,
        b"\0" * 100,
        b"text \xff\xfe\0 not",
        codecs.BOM_UTF16_LE + b"\0",
    ],
)
def test_binary_content_is_refused_with_its_reason(content: bytes) -> None:
    with pytest.raises(SourceError):
        decode(content)


def test_nul_in_text_is_kept_and_named() -> None:
    decoded = decode(b"before\0after\n")
    assert "before\0after\n" == decoded.text
    assert decoded.warnings


def test_utf16_without_a_mark() -> None:
    decoded = decode("# title\n\nsome text\n".encode("utf-16-le"))
    assert ("# title\n\nsome text\n", "utf-16-le") == (decoded.text, decoded.encoding)
    assert decoded.warnings


def test_a_nul_after_the_mark_of_utf16_is_no_utf32() -> None:
    decoded = decode(codecs.BOM_UTF16_LE + "\0a".encode("utf-16-le"))
    assert ("\0a", "utf-16-le") == (decoded.text, decoded.encoding)


SHORT = {
    "koi8_r": [
        "Корабль стоит у причала до утра.",
        "Правила входа в гавань: сбавьте ход и вызовите диспетчера.",
        "привет, мир",
        "ПРАВИЛА ВХОДА В ГАВАНЬ",
    ],
    "cp1251": ["Корабль стоит у причала до утра.", "привет, мир"],
    "cp866": ["Корабль стоит у причала до утра."],
    "iso8859_2": [
        "Příliš žluťoučký kůň úpěl ďábelské ódy.",
        "Zażółć gęślą jaźń w porcie.",
        "A hajó reggelig a kikötőben áll.",
        "Ladja stoji v pristanišču čez noč in še žal.",
        "Loď kotví v přístavu do rána, pak vypluje.",
    ],
    "cp1250": ["Příliš žluťoučký kůň úpěl ďábelské ódy.", "Śledź i źdźbło w żółtej łodzi."],
    "cp1252": [
        "Der Hafen öffnet früh, die Schiffe müssen grüßen.",
        "Le navire reste à quai jusqu’à l’aube, déjà arrimé.",
        "El barco está en el muelle hasta mañana, ¿señor?",
    ],
    "cp1253": ["Το πλοίο μένει στην προβλήτα μέχρι την αυγή."],
    "big5": ["船停在碼頭直到天亮。", "進港規則：請減速並呼叫調度員。"],
    "gb18030": ["船停在码头直到天亮。", "进港规则：请减速并呼叫调度员。"],
    "cp932": ["船は夜明けまで岸壁に停泊する。", "入港規則：減速して通信員を呼び出してください。"],
    "euc_jp": ["船は夜明けまで岸壁に停泊する。"],
    "euc_kr": ["배는 새벽까지 부두에 머문다."],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding, texts in SHORT.items() for text in texts]
)
def test_one_sentence_tells_its_charset(encoding: str, text: str) -> None:
    for content in (text, f"# {text}\n\n{text}\r\n"):
        decoded = decode(content.encode(encoding))
        assert content == decoded.text
        (warning,) = decoded.warnings
        assert f"read as {decoded.encoding}, a guess" in warning
        assert "setting 'encoding'" in warning


def test_a_charset_that_is_named_is_no_guess() -> None:
    text = "ж"
    assert (text, ()) == (
        decode(text.encode("koi8_r"), encoding="KOI8-R").text,
        decode(text.encode("koi8_r"), encoding="KOI8-R").warnings,
    )
    assert (text, ()) == (decode(text.encode(), encoding="koi8-r").text, ())

    wrong = decode("Größe".encode("cp1252"), encoding="shift_jis")
    assert "Größe" == wrong.text
    assert "the setting 'encoding' says shift_jis, which it is not" == wrong.warnings[0]
