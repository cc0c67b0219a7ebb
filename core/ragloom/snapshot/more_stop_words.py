"""Stop words that tantivy has not: of questions, and whole lists of some languages, without negations."""

from __future__ import annotations

from functools import cache
from typing import Final

from ragloom.snapshot.letters import fold_accents

_LISTS: Final = {
    "danish": "hvornår hvem hvorfor hvordan",
    "dutch": "wanneer waar waarom hoeveel welke werden",
    "finnish": "milloin miten",
    "french": """
        quand comment pourquoi où combien quoi est sont était étaient été fut être selon lors après
        avant entre
    """,
    "german": """
        wann wer wen wem wessen warum wieso weshalb wieviel woher wohin wurde wurden worden dass viel
        viele vielen beim seit bis sowie davon dafür dazu dabei daran darauf bereits laut neben gibt
        gab hätte hätten konnten musste mussten
    """,
    "hungarian": "hol hány honnan hová",
    "italian": "quando cosa stato stata stati state dopo fra",
    "portuguese": "quanto quanta quantos quantas onde após",
    "russian": "почему сколько откуда который которая которое которые какие какое",
    "spanish": "cuándo cuánto cuánta cuántos cuántas cuál cuáles dónde adónde cómo quién quiénes según",
    "arabic": """
        في من على إلى الى عن مع هو هي هم هما هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين اين كيف
        كم لماذا من أي اي هل أن ان إن كان كانت يكون تكون قد كل بعد قبل بين عند عندما أو او ثم و لكن
        حتى منذ خلال حول أنا انا نحن أنت انت به بها له لها فيه فيها منه منها يمكن هناك أيضا كما
        بواسطة
    """,
    "greek": """
        ο η το οι τα του της των τον την τους τις στο στη στην στον στα στις στους ένα ένας μια μία
        και ή να θα με σε από για προς κατά που πως πώς τι ποιος ποια ποιο ποιοι ποιες ποιον πόσο
        πόσα πόσες πόσοι πότε πού γιατί είναι ήταν είχε έχει έχουν αυτό αυτός αυτή αυτά αυτές αυτοί
        ότι όταν όπως εγώ εσύ μου σου μας σας τότε εκεί εδώ μπορώ μπορεί πρέπει
    """,
    "romanian": """
        a al ale ai ca că ce cei cele cel cea care cine când cum cât câte câți câtă cu de la din
        despre după e este era erau fost fi sunt în într între iar ei el ea ele îl îi își le li lui
        lor mai o un una unei unui pe pentru prin sau se și să și-a s-a spre sub te tu îmi mi pot
        poate trebuie unde acest această aceste acel acea această
    """,
    "tamil": """
        என்ன எது எப்போது எங்கே எங்கு எப்படி யார் எத்தனை எவ்வளவு ஏன் எந்த ஒரு மற்றும் இந்த அந்த இது
        அது அவர் அவர்கள் நான் நீங்கள் உள்ள என்று என்ற ஆகும் இருந்து மூலம் போன்ற
    """,
    "turkish": """
        ve veya ya da de ile için gibi kadar göre sonra önce bir bu şu o bunlar şunlar onlar ben sen
        biz siz ne neden nedir nerede nereye nereden nasıl niçin niye kim kimin kimi kaç kaçı hangi
        hangisi zaman mı mi mu mü mıdır midir mudur müdür olarak olan oldu olduğu olur olduğunu
        oluyor ettiği etti edilen en daha çok her ki ise ama fakat ancak tarafından şey bana bizim
        onun onu ona onlara onların neydi neler nelerdir nedeniyle kimdi kimdir kimler vardır vardı
        nasıldır zamandır kaçtır kadarı hakkında üzerinde üzerindeki arasında arasındaki içinde
        içindeki olduğunda olması olmuştur ettiğini buna bunu bunun idi diye itibaren itibariyle
    """,
    "other": """
        का की के को से में पर है हैं था थी थे हो होता होती होते हुआ हुई हुए और या एक यह वह ये वे इस
        उस इन उन जो कि कब क्या क्यों कैसे कैसा कैसी कौन किस किसने किसे किसके किसका किसकी कितना कितनी
        कितने कहाँ कहां कौनसा कौनसी गया गई गए जाता जाती जाते कर करता करती करते किया करने लिए साथ
        द्वारा ने भी तो ही तक मैं हम आप मुझे मेरा अपना अपने अपनी सकता सकती सकते
        এবং ও বা এর এই সেই এটি কি কী কে কেন কখন কোথায় কোন কত কীভাবে কিভাবে করা করে হয় হয়েছে ছিল
        আছে থেকে জন্য সাথে দ্বারা আমি আমরা আপনি তার
        מה מי מתי איפה היכן איך כיצד למה מדוע כמה איזה איזו אילו האם את של על עם אל מן לא יש אני
        אנחנו אתה הוא היא הם הן זה זו זאת אלה כי גם או אבל אם כל לי לו לה שלי היה הייתה היו בין עד
        אחרי לפני כדי
        що як де коли хто чому чи який яка яке які якого якої скільки куди звідки і й та або але в у
        на з із зі до від для по про при за над під між це цей ця ці той та те ті він вона воно вони
        ми ви я мені був була було були є бути його її їх так теж також щоб
        kto gdzie kiedy jak dlaczego czy czemu który która które którzy jaki jaka jakie ile czyj
        i oraz a lub albo w we na z ze dla o przy między przez te
        tego tej tych wy są był była było były być się że aby
        żeby mają można
        kdo kde kdy jak proč zda který která které kteří jaký jaká jaké kolik odkud čí a i
        nebo v ve na z ze o při mezi přes toho té těch
        vy já je jsou byl byla bylo byli být se si že aby má
        là và hoặc của với được bị các những này đó gì đã đang sẽ thì mà
        apa siapa kapan bagaimana berapa di mana mengapa yang dan atau untuk dengan dari pada ke ini
        itu adalah
    """,
}

_LONG: Final = 4  # letters; shorter Latin words without their accents are words of other languages


@cache
def more_stop_words(language: str) -> frozenset[str]:
    """Stop words of a language beside those of tantivy, in lower case, most without accents, too."""
    listed = _LISTS.get(language, "").casefold().split()
    folded = map(fold_accents, listed)
    return frozenset(listed).union(
        word for word in folded if len(word) >= _LONG or not word.isascii()
    )
