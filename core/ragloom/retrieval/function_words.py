"""What says nothing by itself in a question of a script without spaces, or in Korean.

There a word is pairs of characters, so that a particle, a question word or a polite ending gives pairs that
no document holds, as if the question asked for them. Stop words say the same of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from ragloom.snapshot import Snapshot
from ragloom.snapshot.analyzer import words as words_of
from ragloom.snapshot.letters import clean
from ragloom.snapshot.words import QueryWord

_JAPANESE: Final = """
    を?(?:お教え|教え|おしえ)て?(?:ください|下さい)? (?:いただけ|頂け|もらえ)ま(?:す|せん|すでしょう)か
    ほしい よろしく(?:お願い(?:いた)?します)? お願い(?:いた)?します すみません すいません
    ありがとう(?:ございます)? こんにちは お世話になっております はじめまして
    (?:され|し|でき|あり|い|なり|ればよい|ればいい)?(?:ますか|ましたか|ませんか|ですか|でしょうか|ますでしょうか)
    (?:すれば|したら)(?:よい|いい) するには したい ください 下さい とは って です ます ました ません
    何(?:日|時|人|個|回|年|月|か)? いつ どこ 誰 だれ どう(?:やって|すれば|して)? どのように なぜ どれ
    いくつ いくら どんな 方法 やり方 について に関して から まで より
"""
_CHINESE: Final = """
    [请請]?[问問] [谢謝][谢謝] [你您]好 麻[烦煩] [帮幫]我 告[诉訴]我 一下 什[么麼](?:[时時]候|[样樣])?
    何[时時] [怎][么麼](?:[样樣]|[办辦])? 如何 [为為](?:什[么麼]|何) 哪(?:里|裡|裏|儿|兒|[个個]|些|位)?
    [谁誰] 多(?:少|久) [几幾] [吗嗎] 呢 吧 是(?:不是|否)? 有(?:没|沒)有 能否 可以 [请請] 的 了 在 和
    [与與] 或 把 被 [会會] 要 [应應][该該] 我[们們]? [你您]
"""
_THAI_BURMESE_KHMER: Final = """
    ครับ ค่ะ คะ นะ หน่อย ช่วย(?:บอก|อธิบาย)? ขอบคุณ สวัสดี อย่างไร ยังไง เมื่อไหร่ เมื่อไร ที่ไหน อะไร
    ทำไม ใคร กี่ เท่าไหร่ เท่าไร ไหม หรือไม่ กรุณา โปรด คือ ဘယ်အချိန် ဘယ်လို ဘယ်မှာ ဘယ်သူ ဘယ်နှစ် ဘာ သလဲ
    လဲ လား ကျေးဇူးတင်ပါတယ် ကျေးဇူးပြု၍ မင်္ဂလာပါ សូម(?:ជួយ)?(?:ប្រាប់)?(?:ខ្ញុំ)? តើ (?:នៅ)?ពេលណា
    យ៉ាងម៉េច ដូចម្តេច ប៉ុន្មាន អ្វី អរគុណ សួស្តី
"""
_KOREAN: Final = """
    안녕하세요 감사합니다 고맙습니다 부탁(?:드립니다|합니다|해요)? 혹시 무엇 뭐 언제 어디(?:서|에)?
    어떻게 누구(?:에게|를|가)? 왜 몇 며칠 얼마나? 방법 좀 알려 알
    (?:해)?주(?:세요|실래요|시겠어요|십시오) 수 싶(?:어요|습니다) 궁금(?:합니다|해요)
"""
# Behind a Chinese character, katakana, or a letter.
_PARTICLE: Final = r"(?<=[\u3005\u3007\u4e00-\u9fff\u30a1-\u30fc\dA-Za-z])[はがをにでのとへもや]"
# At the end of a word: particles, and what makes a question of a verb.
_KOREAN_ENDINGS: Final = """
    을 를 은 는 이 가 의 에 에서 에게 께 로 으로 와 과 도 만 부터 까지 들 들은 들이 들을 보다 처럼 하고
    이란 란 인가요? 나요 까요 되나요 하나요 있나요 있어요 있을까요 합니까 입니까 습니까 해요 하는지 되는지
    인지 는지 해야 하는 되는 하려면 하면
"""


def _either(patterns: str) -> str:
    # A longer one comes before its own beginning.
    return "|".join(sorted(patterns.split(), key=len, reverse=True))


_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
)


@cache
def _says_nothing() -> re.Pattern[str]:
    patterns = _either(_JAPANESE + _CHINESE + _THAI_BURMESE_KHMER + _KOREAN)
    hangul = "[\uac00-\ud7a3]"
    endings = rf"(?<={hangul})(?:{_either(_KOREAN_ENDINGS)})(?!{hangul})"
    return re.compile(f"{patterns}|{_PARTICLE}|{endings}")


def without_function_words(
    text: str, words: Sequence[QueryWord], snapshot: Snapshot
) -> Sequence[QueryWord]:
    """``words``; as stop words those that are within function words, or reach into one and nobody holds."""
    if text.isascii() or not _UNSPACED.search(text):
        return words
    text = clean(text)
    content = _pairs(_says_nothing().sub(" ", text))
    within = _pairs(" ".join(match[0] for match in _says_nothing().finditer(text)))
    return [
        replace(word, stop=True)
        if word.text not in content
        and (word.text in within or not snapshot.lexical.frequency(word))
        else word
        for word in words
    ]


def _pairs(text: str) -> frozenset[str]:
    return frozenset(word.text for word in words_of(text))
