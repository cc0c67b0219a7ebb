"""What asks, joins and points says nothing by itself, in any language: it is neither missed nor found."""

from __future__ import annotations

import pytest

NOTES = {
    "zh.md": "# 数据备份\n\n数据库每天凌晨两点自动备份。加密的副本在独立的服务器上保存三十天。\n",
    "ja.md": "# 休暇\n\n社員は有給休暇を取得できます。申請書は上司へ。\n",
    "ko.md": "# 휴가\n\n직원은 연차를 사용합니다. 백업은 매일 합니다.\n",
    "th.md": "# สำรอง\n\nฐานข้อมูลจะถูกสำรองทุกคืนเวลาตีสอง\n",
    "he.md": "# חופשה\n\nלכל עובד עשרים ימי חופשה בשנה.\n",
    "uk.md": "# Відпустка\n\nКожен працівник має двадцять чотири дні відпустки на рік.\n",
    "pl.md": "# Umowa\n\nCzynsz płatny jest dziesiątego dnia miesiąca, a zwierzęta są dozwolone.\n",
    "tr.md": "# İzin\n\nÇalışanlar yılda yirmi gün izin kullanabilir.\n",
    "el.md": "# Άδεια\n\nΟι εργαζόμενοι δικαιούνται είκοσι ημέρες άδεια.\n",
    "hi.md": "# अवकाश\n\nहर कर्मचारी को साल में बीस दिन की छुट्टी मिलती है।\n",
    "de.md": "# Urlaub\n\nDer Urlaub verfällt, wenn ihn niemand nimmt, und das Amt wurde geschlossen.\n",
}


@pytest.fixture
def search(make_space, files):
    for name, text in NOTES.items():
        (files / name).write_text(text, "utf-8")
    space = make_space()
    space.index()
    return lambda query: space.search(query, mode="lexical")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("数据库什么时候备份？", "zh.md"),
        ("请问副本在哪里", "zh.md"),
        ("有給休暇は何日ありますか", "ja.md"),
        ("申請書について教えてください", "ja.md"),
        ("백업은", "ko.md"),
        ("백업을", "ko.md"),
        ("직원들", "ko.md"),
        ("연차는 며칠인가요?", "ko.md"),
        ("ฐานข้อมูลสำรองเมื่อไหร่", "th.md"),
        ("כמה ימי חופשה לכל עובד?", "he.md"),
        ("Скільки дні відпустки?", "uk.md"),
        ("Czy zwierzęta są dozwolone?", "pl.md"),
        ("Yılda kaç gün izin var?", "tr.md"),
        ("Πόσες ημέρες άδεια;", "el.md"),
        ("साल में कितने दिन की छुट्टी?", "hi.md"),
    ],
)
def test_a_question_in_any_language_is_not_held_against_its_answer(search, query, path):
    assert path == search(query).hits[0].chunk.uri


@pytest.mark.parametrize(
    "query",
    [
        "什么时候？",
        "どうすればいいですか",
        "ありがとうございます",
        "언제인가요?",
        "パンの焼き方を教えてください",
        "빵은 어떻게 굽나요?",
        "怎么烤面包？",
        "כמה עולה לחם?",
        "Скільки коштує хліб?",
        "Jak upiec chleb?",
        "Ekmek nasıl yapılır?",
        "Πώς φτιάχνω ψωμί;",
        "रोटी कैसे बनाते हैं?",
    ],
)
def test_what_asks_for_something_else_finds_nothing(search, query):
    assert () == search(query).hits


@pytest.mark.parametrize("query", ["Wann verfällt der Urlaub?", "Wann wurde das Amt geschlossen?"])
def test_a_question_word_is_not_corrected(search, query):
    found = search(query)
    assert "de.md" == found.hits[0].chunk.uri
    assert "" == found.searched_for


def test_another_language_is_corrected_by_one_letter_only(search):
    assert "" == search("wann der Urlaub geschlussenn ist").searched_for
    assert "wann der Urlaub verfällt" == search("wann der Urlaub verfält").searched_for
