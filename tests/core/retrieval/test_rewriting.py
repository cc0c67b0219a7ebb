"""A request without its courtesies, and its sentences."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom.retrieval.rewriting import MOST_SENTENCES, queries

PLAIN = {
    "how do I rotate the keys?": "how do I rotate the keys?",
    "Please, how do I rotate the keys?": "how do I rotate the keys?",
    "how do I rotate the keys, please?": "how do I rotate the keys",
    "Hi there! How do I rotate the keys? Thanks a lot!": "How do I rotate the keys?",
    "Hello, could you please tell me how to rotate the keys": "rotate the keys",
    "Dear team, I would like to know about key rotation. Many thanks!": "key rotation",
    "hey can someone explain key rotation to me, thx": "key rotation",
    "I'm wondering whether the keys are rotated": "keys are rotated",
    "Could anyone point me to the page on log levels? Cheers": "page on log levels",
    "do you know what latency_ms means? thank you": "latency_ms means?",
    "is there any documentation, tutorial or example on custom keys?": "custom keys?",
    "Are there some docs about custom keys?": "custom keys?",
    "yo how do I rotate the keys": "how do I rotate the keys",
    "How do I rotate the keys? Could you elaborate?": "How do I rotate the keys?",
}
EMPTY = [
    "hello",
    "Hi!",
    "thanks a lot!",
    "Thank you very much, have a nice day.",
    "please",
    "Could you please help me?",
    "good morning everyone",
    "Hi, can anyone help me with a quick question? Thanks!",
    "what is your name?",
    "hello, nice to meet you",
]
KEPT = [  # soft words where nothing is asked for
    "explain plan",
    "show tables",
    "find",
    "help",
    "name",
    "sorry",
    "team topologies",
    "guidance on questions",
    "day one",
    "time zone",
    "wonder wheel",
    "mind map",
    "welcome page",
    "hello world",
    "hello world example",
    "greetings endpoint",
    "the second night",
]


def content(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(("text", "plain"), PLAIN.items())
def test_courtesies_are_removed_at_both_ends(text: str, plain: str) -> None:
    whole, sentences = queries(text)
    assert () == tuple(sentences)
    words = [word for word in content(plain) if word not in {"how", "do", "i", "what", "to"}]
    assert words == [word for word in content(whole) if word in words]
    courteous = {"please", "thanks", "thank", "thx", "hi", "hello", "hey", "dear", "cheers", "many"}
    assert set() == courteous & set(content(whole))


FOREIGN = {
    "Hallo, wann wird gesichert?": "wann wird gesichert?",
    "Könnten Sie mir bitte sagen, wann gesichert wird?": "wann gesichert wird?",
    "Wann wird gesichert? Vielen Dank im Voraus!": "Wann wird gesichert?",
    "Kannst du mir bitte erklären, was ein Schlüssel ist, danke": "was ein Schlüssel ist",
    "Bonjour, comment restaurer, s'il vous plaît ?": "comment restaurer?",
    "Quelqu’un sait comment restaurer ? Merci d’avance": "comment restaurer?",
    "Hola, ¿podría decirme cuándo caducan?": "cuándo caducan?",
    "cuándo caducan, por favor": "cuándo caducan",
    "Olá, alguém sabe quando são emitidas? Obrigada!": "quando são emitidas?",
    "Buongiorno, potrebbe dirmi dove si trova la chiave? Grazie mille": "dove si trova la chiave?",
    "Dzień dobry, czy mógłby mi Pan powiedzieć, kiedy to jest?": "kiedy to jest?",
    "Dobrý den, mohl byste mi prosím říct, kdy to je? Děkuji": "kdy to je?",
    "Merhaba, izin ne zaman? Teşekkürler": "izin ne zaman?",
    "Здравствуйте, подскажите, пожалуйста, где ключ? Спасибо!": "где ключ?",
    "Добрий день, підкажіть, будь ласка, де ключ?": "де ключ?",
    "Καλημέρα, θα μπορούσατε να μου πείτε πότε γίνεται; Ευχαριστώ": "πότε γίνεται;",
    "שלום, מתי מגבים? תודה רבה": "מתי מגבים?",
    "مرحبا، متى يتم النسخ؟ شكرا": "متى يتم النسخ؟",
    "नमस्ते, बैकअप कब होता है? धन्यवाद": "बैकअप कब होता है?",
    "வணக்கம், விடுமுறை எப்போது? நன்றி": "விடுமுறை எப்போது?",
    "สวัสดีครับ สำรองเมื่อไหร่ ขอบคุณครับ": "สำรองเมื่อไหร่",
    "你好，请问什么时候备份？谢谢！": "什么时候备份？",
    "復元の方法を教えてください": "復元の方法",
    "안녕하세요, 언제 백업됩니까? 감사합니다": "언제 백업됩니까?",
    "백업 시간을 알려주세요": "백업 시간",
    "Xin chào, sao lưu lúc nào? Cảm ơn": "sao lưu lúc nào?",
}
FOREIGN_SMALL_TALK = """
hallo|Danke!|Vielen Dank|Guten Tag|Wer bist du?
Bonjour|merci beaucoup|Hola|Muchas gracias|por favor|Olá|obrigado
Buongiorno|grazie|Dzień dobry|dziękuję|Ahoj|Děkuji|Merhaba|teşekkürler|Привет
Спасибо|Дякую|Γεια σας|Ευχαριστώ
مرحبا|شكرا|שלום|בבקשה|नमस्ते|धन्यवाद|নমস্কার|வணக்கம்|สวัสดีครับ|မင်္ဂလာပါ|អរគុណ|Xin chào|你好|谢谢|こんにちは
ありがとうございます|教えてください|안녕하세요|감사합니다
"""


@pytest.mark.parametrize(("text", "plain"), FOREIGN.items())
def test_courtesies_of_other_languages_are_removed_too(text: str, plain: str) -> None:
    whole, _ = queries(text)
    assert plain.rstrip("?;؟？") == whole.rstrip("?;؟？ ")


@pytest.mark.parametrize("text", re.split(r"[|\n]", FOREIGN_SMALL_TALK.strip()))
def test_small_talk_in_other_languages_is_no_query(text: str) -> None:
    assert ("", ()) == queries(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hallo Welt",
        "Ciao Bella", "bitter lemon", "merchandise", "Dankesrede", "por", "danke-seite.md",
        '"por favor" en el texto', "a tutti i costi", "servus publicus", "谢谢你的歌词", "salutations",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_foreign_courtesy_stays(text: str) -> None:
    assert text == queries(text)[0] or "歌词" in queries(text)[0]


@pytest.mark.parametrize("text", EMPTY)
def test_nothing_but_courtesies_is_no_query(text: str) -> None:
    assert ("", ()) == queries(text)


@pytest.mark.parametrize("text", KEPT)
def test_soft_words_alone_stay(text: str) -> None:
    assert (text, ()) == queries(text)


def test_a_question_keeps_its_courteous_words_in_the_middle() -> None:
    assert ("how do I return a thank you page", ()) == queries("how do I return a thank you page")


def test_several_sentences_are_given_one_by_one_questions_first() -> None:
    text = (
        "Hi all! Our service moved to the new cluster last week. Since then the exporter drops "
        "spans. Which setting limits the batch size? Thanks!"
    )
    whole, sentences = queries(text)
    assert "Which setting limits the batch size?" == sentences[0]
    assert 3 == len(sentences)
    assert content(whole) == content(
        "Our service moved to the new cluster last week. Since then the exporter drops spans. "
        "Which setting limits the batch size?"
    )


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("we could not settle it. redis versus memcached", "redis versus memcached"),
        ("deploys hang since noon... rollback timeout", "rollback timeout"),
        ("i am new here! where are the runbooks", "where are the runbooks"),
    ],
)
def test_sentences_begin_with_small_letters_too(text: str, last: str) -> None:
    assert last in queries(text)[1]


ASKED = "how the drop order of temporaries works"


@pytest.mark.parametrize(
    "around",
    [
        "Sorry to bother you, but {}? Any help is much appreciated.",
        "If it's not too much trouble, could you let me know {}? Thank you so much.",
        "Hope you're having a great day! {}? Appreciate it.",
        "Hi there! I'm a bit lost: {}? Thanks in advance for any pointers.",
        "Apologies if this was asked before, {}? Thanks!",
        "If you don't mind, {}? Sorry for the trouble and thank you.",
        "Could I please get some guidance on {}? I'd owe you one.",
        "It would be great if somebody could clarify {}. Thanks for the help!",
        "I hope this finds you well. {}? Thank you for your patience.",
        "Forgive my ignorance, {}? TIA",
        "Just a small thing: could you please tell me {}? Ta very much",
        "Whenever you have a minute, a word on {}, please. Thanks ever so much indeed.",
        "Please send me something on {}, thank you",
        "It'd be super helpful if you could show me {}.",
        "Hi, I've got a quick question about {}. Thank you very much for your help.",
    ],
)
def test_nothing_of_many_ways_to_ask_nicely_is_left(around: str) -> None:
    (whole, sentences) = queries(around.format(ASKED))
    assert ASKED == whole.strip("?. ")
    assert () == sentences


@pytest.mark.parametrize(
    "text",
    [
        "how do we reduce the noise",
        "what is your support policy",
        "someone can read my secrets",
        "the interruption handler",
    ],
)
def test_words_of_courtesies_stay_where_they_are_content(text: str) -> None:
    assert text == queries(text)[0]


@pytest.mark.parametrize("text", ["tabs vs. spaces", "caching, e.g. redis", "J. p. morgan"])
def test_no_sentence_begins_after_an_abbreviation(text: str) -> None:
    assert () == queries(text)[1]


def test_a_whole_page_is_no_more_than_a_few_searches() -> None:
    whole, sentences = queries("The exporter drops spans. " * 50)
    assert MOST_SENTENCES == len(sentences)
    assert 50 == whole.count("exporter")


SCRAPS = (
    "please|thanks|hi|could|you|tell me|explain|show|how|to|log|errors|?|.|!|,|(|)|don't|“the”|"
    "OPS-4711|latency_ms|v1.2.3|--verbose|合約|\n|..."
)


@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(SCRAPS.split("|")), max_size=25).map(" ".join),
    )
)
def test_any_text_gives_a_part_of_its_own_words_in_their_order(text: str) -> None:
    whole, sentences = queries(text)
    left = iter(content(text))
    assert all(word in left for word in content(whole))
    assert len(sentences) != 1
    for sentence in sentences:
        assert sentence in whole
    if not re.search(r"\w", text):
        assert text.strip() == whole
