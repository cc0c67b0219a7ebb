"""Courtesies of other languages than English, removed where they stand: at the ends of a sentence."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

# Each line is a regular expression; the languages stand in the order of their scripts.
_COURTESIES: Final = """
hallo(?: zusammen| an alle)?
(?:hi|hallo|liebe) leute
entschuldig(?:ung|en sie|e)(?: bitte)?
guten (?:tag|morgen|abend)
moin
grüß gott
sehr geehrte damen und herren
(?:könn|würd|kann)(?:ten|en|st|test|est)? (?:sie|du)(?: mir| uns| bitte)* (?:sagen|erklären|zeigen|helfen)
(?:kann|könnte)(?: mir)? (?:jemand|wer)(?: mir| bitte)* (?:sagen|erklären|zeigen|helfen)
weiß (?:jemand|einer)(?: von euch| hier)?
ich (?:hätte|habe|hab)(?: mal| da)? (?:eine|ne|'ne)(?: kurze| kleine)? frage
(?:eine )?kurze frage
ich (?:würde|möchte|wüsste) gerne?(?: wissen)?
bitte(?: um hilfe)?
danke(?: schön| sehr| im voraus)*
(?:vielen|herzlichen|besten) dank(?: im voraus)?
mit freundlichen grüßen
(?:viele|liebe|beste) grüße
auf wiedersehen
tschüss
wie geht es (?:dir|ihnen|euch)
wer bist du
(?:bonjour|salut)(?: à tous)?
bonsoir
s['’]il (?:vous|te) pla[iî]t
merci(?: beaucoup| bien)?(?: d['’]avance)?
au revoir
(?:pourriez|pouvez|pourrais|peux)-(?:vous|tu) (?:me |m['’]|nous )?(?:dire|expliquer|indiquer|aider|montrer)
(?:est-ce que )?quelqu['’]un (?:sait|saurait|(?:peut|pourrait) me dire)
je (?:voudrais|voulais|souhaiterais|souhaite) savoir
j['’]aimerais (?:bien )?savoir
excusez-moi
je me demand(?:e|ais)
j['’]ai une (?:petite )?question
cordialement
comment (?:ça va|allez-vous)
qui es-tu
(?:hola|oye)(?: a todos)?
(?:necesito|quiero) saber
perdon[ae]
buenos días
buenas (?:tardes|noches)
por favor
(?:muchas |mil )?gracias(?: de antemano| por la ayuda)?
(?:podría|podrías|puede|puedes)(?: usted)? (?:decirme|explicarme|ayudarme|indicarme|mostrarme)
me (?:podría|podrías|puede|puedes) (?:decir|explicar|ayudar|indicar)
alguien sabe
(?:quisiera|me gustaría) saber
tengo una (?:pregunta|duda)
saludos
quién eres
olá
bom dia
boa (?:tarde|noite)
(?:muito )?(?:obrigado|obrigada)
desde já agradeço
(?:poderia|pode|podia|podes)(?: me)? (?:dizer|explicar|ajudar|indicar)(?:-me)?
alguém sabe
(?:gostaria de|queria) saber
preciso de ajuda
(?:ciao|salve)(?: a tutti)?
(?:mi )?scus[ia]
buon giorno
buongiorno
buonasera
per (?:favore|piacere|cortesia)
grazie(?: mille| in anticipo| tante)?
(?:potrebbe|potresti|può|puoi) (?:dirmi|spiegarmi|aiutarmi|indicarmi|mostrarmi)
qualcuno sa
vorrei sapere
ho una domanda
goedemorgen
goedemiddag
goedenavond
alstublieft
alsjeblieft
dank (?:u|je)(?: wel)?
(?:alvast )?bedankt
(?:kunt|kan|kun) (?:u|je|iemand) (?:me|mij) (?:vertellen|uitleggen|helpen|zeggen)
weet iemand
cześć
dzień dobry
dobry wieczór
proszę(?: o pomoc)?
(?:z góry )?(?:dziękuję|dzięki)(?: bardzo| z góry)?
czy (?:mógłby|mogłaby|mógłbyś|mogłabyś|może|możesz)(?: mi| pan| pani)* (?:powiedzieć|wyjaśnić|pomóc)
czy ktoś wie
mam pytanie
witam(?: serdecznie| wszystkich)?
przepraszam
pozdrawiam
ahoj
zdravím
dobrý (?:den|večer)
prosím(?: vás| tě)?
děkuj[iu](?: předem)?
díky(?: moc)?
(?:mohl|mohla|můžete|můžeš)(?: byste| bys| mi| prosím)* (?:říct|říci|vysvětlit|pomoci|poradit)
(?:ne)?ví někdo
s pozdravem
(?:kan|vet) (?:någon|nogen|noen) (?:säga|berätta|förklara|fortælle|si|forklare)?
tack(?: så mycket| på förhand)?
merhaba(?:lar)?
selam(?:lar)?
günaydın
iyi (?:günler|akşamlar)
lütfen
teşekkür(?:ler| ederim| ederiz)
(?:söyler|anlatır|açıklar|söyleyebilir) misin(?:iz)?
bilen var mı
bir sorum var
xin chào
chào (?:bạn|mọi người)
vui lòng
cảm ơn(?: bạn| nhiều)?
bạn có thể cho (?:tôi|mình) biết
cho (?:tôi|mình) hỏi
привет(?: всем)?
здравствуйте
добрый (?:день|вечер)
доброе утро
пожалуйста
под?скажите
подскажи
спасибо(?: большое| заранее| за помощь)?
(?:большое|заранее) спасибо
(?:кто-нибудь|кто-то) знает
не могли бы вы (?:сказать|подсказать|объяснить|помочь)
(?:можете|можешь) (?:сказать|подсказать|объяснить)
(?:хочу|хотел бы|хотела бы) узнать
у меня вопрос
извините
до свидания
как дела
привіт
вітаю
добр(?:ий день|ого дня|ий вечір)
будь ласка
(?:підкажіть|скажіть)
дякую(?: наперед| заздалегідь)?
хтось знає
чи не могли б ви (?:сказати|підказати|пояснити)
γεια(?: σας| σου)?
καλη(?:μέρα|σπέρα)(?: σας)?
παρακαλώ
ευχαριστώ(?: πολύ| εκ των προτέρων)?
(?:θα μπορούσατε|μπορείτε) να μου (?:πείτε|εξηγήσετε)
ξέρει κανείς
שלום
בוקר טוב
היי
סליחה
בבקשה
תודה(?: רבה| מראש)?
(?:האם )?(?:תוכל|תוכלי|אפשר)(?: בבקשה)? (?:להגיד|לומר|להסביר|לעזור)(?: לי)?
מישהו יודע
مرحبا
السلام عليكم
صباح الخير
من فضلك
لو سمحت
شكر[اً]+(?: جزيلا)?
هل يمكنك (?:أن تخبرني|إخباري|مساعدتي)
هل يعرف أحد
नमस्ते
नमस्कार
कृपया
धन्यवाद
(?:मुझे )?बताइए
क्या आप (?:मुझे )?बता सकते हैं
নমস্কার
দয়া করে
ধন্যবাদ
বলবেন কি
வணக்கம்
தயவுசெய்து
நன்றி
சொல்லுங்கள்
"""
_UNSPACED: Final = """
สวัสดี(?:ครับ|ค่ะ)?
ช่วยบอก(?:หน่อย)?(?:ครับ|ค่ะ|คะ)?(?:ว่า)?
ขอบคุณ(?:ครับ|ค่ะ|มาก)*
(?:ကျေးဇူးတင်ပါတယ်|မင်္ဂလာပါ)
(?:សួស្តី|អរគុណ|សូមជួយប្រាប់ខ្ញុំ)
(?:你|您|大家)好
(?:想|我想)?[请請](?:[问問]|教)(?:一下)?
[谢謝][谢謝](?:你|您|大家)?
(?:こんにちは|はじめまして|すみません(?:が)?|すいません(?:が)?)
お世話になって(?:おり|い)ます
(?:恐れ入ります|失礼します)が?
(?:よろしく)?お願い(?:いた|致)?します
よろしくお願い(?:いた|致)?します
ありがとうございま(?:す|した)
(?:か)?(?:を)?教えて(?:ください|下さい|いただけますか|いただけませんか|ほしいです)
안녕하세요
실례(?:합니다|지만)
감사합니다
고맙습니다
부탁(?:드립니다|합니다|해요)
(?:를 |을 )?알려 ?주(?:세요|실래요|시겠어요)
"""


def _either(lines: str) -> str:
    return "|".join(lines.split("\n")[1:-1])


_WORD: Final = re.compile("[a-z]{3,}")
_WORDS: Final = frozenset(_WORD.findall(_COURTESIES))
_LETTER: Final = r"[\w\u0900-\u0dff'’-]"  # and the vowel signs of Indic scripts
_MARKS: Final = " \t\n,;:!.…¡¿،、，。！–-"
_QUESTION: Final = "?？؟"
_ENDS: Final = _MARKS + _QUESTION
_LONGEST: Final = 200  # characters of the courtesies at an end
_NAME: Final = 2  # words behind a greeting without a mark, which may be a name: "Hallo Welt"


def without_foreign_courtesies(sentence: str) -> str:
    """A sentence without those at its ends; empty where there is nothing else."""
    if sentence.isascii() and _WORDS.isdisjoint(_WORD.findall(sentence.lower())):
        return sentence  # most are English: they need not wait for the pattern
    phrase = _phrase()
    kept = sentence.lstrip(_MARKS)
    while match := phrase.match(kept):
        rest = kept[match.end() :].lstrip(_MARKS)
        blank = kept[match.end() : len(kept) - len(rest)].isspace()
        if blank and " " not in match[0] and 0 < len(rest.split()) <= _NAME:
            break
        kept = sentence = rest
    while last := _last(sentence):
        asks = "?" if sentence.endswith(tuple(_QUESTION)) else ""
        sentence = sentence[: last.start()].rstrip(_ENDS) + asks
    return sentence if sentence.strip(_ENDS) else ""


def _last(sentence: str) -> re.Match[str] | None:
    """The courtesy with which a sentence ends."""
    end = len(sentence.rstrip(_ENDS))
    found = _phrase().finditer(sentence, max(end - _LONGEST, 0))
    return next((match for match in found if match.end() == end), None)


@cache
def _phrase() -> re.Pattern[str]:
    spaced = rf"(?<!{_LETTER})(?:{_either(_COURTESIES)})(?!{_LETTER})"
    return re.compile(f"{spaced}|{_either(_UNSPACED)}", re.IGNORECASE)
