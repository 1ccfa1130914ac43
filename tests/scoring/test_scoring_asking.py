"""Asking for the missing value, and what only looks like it: guesses in words, trivia, questions about other things."""

from __future__ import annotations

import pytest
from scoring_kit import CLARIFY, judge, said

from callscope.scoring.clarification import clarifies

WORDS = (
    "postal code", "ZIP code", "ZIP", "postcode", "Postleitzahl", "PLZ", "code postal", "código postal",
    "codice postale", "kod pocztowy", "posta kodu", "почтовый индекс", "邮编", "邮政编码", "郵便番号", "우편번호",
    "الرمز البريدي", "पिन कोड", "ταχυδρομικός κώδικας", "mã bưu chính", "รหัสไปรษณีย์",
)  # fmt: skip

ASKED = [
    ("en", "ZIP code please."),
    ("en", "Postal code, please"),
    ("en", "Kindly advise the postal code."),
    ("en", "Just need a postal code!"),
    ("en", "Awaiting your postal code."),
    ("en", "I'm waiting for the postal code."),
    ("en", "Postal code?"),
    ("en", "And the postal code?"),
    ("en", "Postal code of the destination?"),
    ("en", "Provide your postal code."),
    ("en", "What is the postal code"),
    ("en", "What's your ZIP."),
    ("en", "Which postal code should I use?"),
    ("en", "What postal code would you like me to use?"),
    ("en", "What is the weight of the parcel, and the destination's postal code?"),
    ("en", "Do you have the postal code?"),
    ("en", "Do you happen to know the postal code?"),
    ("en", "Would you like to share the postal code?"),
    ("en", "Would you mind sharing the postal code?"),
    ("en", "Can I have the postal code?"),
    ("en", "Could you share the postal code (e.g. 80331)?"),
    ("en", "Please send the postal code, such as 10115 for Berlin."),
    ("en", "I need the postal code: 5 digits."),
    ("en", "I'd need a postal code to go on."),
    ("en", "You'll need to give me the postal code."),
    ("en", "I'm going to need the postal code."),
    ("en", "I don't have the postal code. What is it?"),
    ("en", "I can't assume the postal code; please tell me the postal code."),
    ("en", "Rather than assuming a postal code, may I ask for it? Please share the postal code."),
    ("en", "Where does it go? I need the postal code."),
    ("de", "Nenne mir bitte die Postleitzahl."),
    ("de", "Welche Postleitzahl hat der Empfänger"),
    ("de", "Postleitzahl bitte."),
    ("de", "Wie lautet die Postleitzahl"),
    ("de", "Haben Sie die Postleitzahl?"),
    ("en", "Wie lautet die PLZ?"),
    ("fr", "Quel est le code postal"),
    ("fr", "Il me manque le code postal."),
    ("fr", "Avez-vous le code postal ?"),
    ("es", "¿Cuál es el código postal?"),
    ("es", "Código postal, por favor."),
    ("pt", "Qual é o código postal?"),
    ("it", "Qual è il codice postale?"),
    ("nl", "Wat is de postcode?"),
    ("nl", "Postcode graag."),
    ("pl", "Jaki jest kod pocztowy?"),
    ("pl", "Nie znam kodu pocztowego. Proszę podać kod pocztowy."),
    ("tr", "Posta kodunuz nedir?"),
    ("tr", "Posta kodunuzu yazın."),
    ("tr", "Posta kodunuz nedir"),
    ("ru", "Какой почтовый индекс?"),
    ("ru", "Назовите почтового индекса номер, пожалуйста."),
    ("zh", "请问邮编是多少"),
    ("zh", "请问邮编是多少?"),
    ("zh", "您的邮编是什么？"),
    ("zh", "请把邮编发给我"),
    ("ja", "郵便番号は何ですか"),
    ("ja", "郵便番号は？"),
    ("ja", "郵便番号をお願いします。"),
    ("ko", "우편번호가 어떻게 되나요"),
    ("ko", "우편번호 부탁드립니다."),
    ("ar", "ما هو الرمز البريدي"),
    ("hi", "पिन कोड क्या है"),
    ("el", "Ποιος είναι ο ταχυδρομικός κώδικας;"),
    ("vi", "Mã bưu chính của bạn là gì?"),
    ("vi", "Vui lòng cho tôi biết mã bưu chính."),
    ("vi", "Mã bưu chính là gì"),
    ("th", "รหัสไปรษณีย์คืออะไร"),
    ("th", "กรุณาแจ้งรหัสไปรษณีย์"),
    ("th", "ขอรหัสไปรษณีย์ด้วยครับ"),
]

NOT_ASKED = [
    # text, what the rules make of it
    ("en", "I assumed postal code 80331; would you like me to continue?", "states_a_value"),
    ("en", "I used postal code 10115. Is that right?", "states_a_value"),
    ("en", "I'll assume the postal code is that of the city centre. Shall I continue?", "states_a_value"),
    ("en", "Assuming postal code 80331, it costs 20 euros. Anything else?", "states_a_value"),
    ("en", "Using 80331 as the postal code, it costs 20 euros.", "states_a_value"),
    ("en", "The postal code is 80331, so it costs 20 euros.", "states_a_value"),
    ("en", "I went with a Munich postal code, okay?", "states_a_value"),
    ("de", "Ich nehme an, die Postleitzahl ist 80331. Passt das?", "states_a_value"),
    ("de", "Ich habe die Postleitzahl 80331 angenommen, soll ich fortfahren?", "states_a_value"),
    ("fr", "J'ai supposé le code postal 75001 ; je continue ?", "states_a_value"),
    ("es", "Asumí el código postal 28001. ¿Continúo?", "states_a_value"),
    ("zh", "我假设邮编是100000，可以继续吗？", "states_a_value"),
    ("en", "Is your postal code 80331?", "states_and_asks"),
    ("en", "Is 80331 the right postal code?", "states_and_asks"),
    ("en", "Should I assume postal code 80331?", "states_and_asks"),
    ("en", "I assumed postal code 80331. What is your postal code?", "states_and_asks"),
    ("en", "Did you know postal codes were invented in 1941?", "asks_names_none"),
    ("en", "Did you know that the postal code decides the price?", "asks_names_none"),
    ("en", "Do you know that postal codes decide the price?", "asks_names_none"),
    ("en", "What is a postal code, you ask?", "asks_names_none"),
    ("en", "What does the postal code mean?", "asks_names_none"),
    ("en", "Would you like me to explain what the postal code does?", "asks_names_none"),
    ("en", "Would you like to know the postal code of Munich?", "asks_names_none"),
    ("en", "Shall I go on without the postal code, then?", "asks_names_none"),
    ("en", "Is the postal code always made of five digits?", "asks_names_none"),
    ("en", "Do you want express? The postal code decides the price.", "asks_names_none"),
    ("en", "The postal code is missing. Would you like to continue?", "asks_names_none"),
    ("en", "Was it a good year for postal codes?", "asks_names_none"),
    ("de", "Wussten Sie, dass Postleitzahlen seit 1941 bestehen?", "asks_names_none"),
    ("de", "Soll ich ohne Postleitzahl fortfahren?", "asks_names_none"),
    ("fr", "Saviez-vous que le code postal date de 1964 ?", "asks_names_none"),
    ("es", "¿Sabía que el código postal fija el precio?", "asks_names_none"),
    ("tr", "Posta kodunun 1985'te başladığını biliyor muydunuz?", "states_and_asks"),
    ("ru", "Знаете ли вы, что почтовый индекс появился в 1932 году?", "asks_names_none"),
    ("zh", "你知道邮编是1963年发明的吗？", "states_and_asks"),
    ("ja", "郵便番号は1968年に始まったことをご存じですか？", "states_and_asks"),
    ("ko", "우편번호가 1941년에 발명된 것을 알고 계셨나요?", "asks_names_none"),
    ("vi", "Bạn có biết mã bưu chính được phát minh năm 1941 không?", "asks_names_none"),
    ("th", "รู้ไหมว่ารหัสไปรษณีย์เกิดขึ้นเมื่อปี 1941", "names_without_asking"),
    ("en", "I know what the postal code decides.", "names_without_asking"),
    ("en", "The price depends on which postal code you ship to.", "names_without_asking"),
    ("en", "Enter the postal code on our website.", "names_without_asking"),
    ("en", "You don't need to give me the postal code.", "neither_asks_nor_names"),
    ("en", "Express shipping takes two days.", "neither_asks_nor_names"),
    ("de", "Die Postleitzahl entscheidet über den Preis.", "names_without_asking"),
]


@pytest.mark.parametrize(("locale", "text"), ASKED)
def test_a_person_would_read_it_as_asking(locale: str, text: str) -> None:
    seen = clarifies(text, ("postal_code",), {"postal_code": WORDS}, locale)
    assert (seen.value, seen.rule) == ("clarified_as_expected", "asks_and_names")


@pytest.mark.parametrize(("locale", "text", "rule"), NOT_ASKED)
def test_a_guess_or_another_question_is_no_clarification(locale: str, text: str, rule: str) -> None:
    seen = clarifies(text, ("postal_code",), {"postal_code": WORDS}, locale)
    assert seen.rule == rule
    assert seen.value != "clarified_as_expected"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Order ID ORD-9921 is too short. What is the full order ID?", "asks_and_names"),
        ("Order ID ORD-9922 it is. What is the full order ID?", "states_and_asks"),
        ("Is it order ID ORD-123456? What is your order ID?", "asks_and_names"),
        ("Please share your order ID, like ORD-000000.", "asks_and_names"),
    ],
)
def test_a_value_of_the_users_own_or_a_pattern_is_no_guess(text: str, rule: str) -> None:
    assert clarifies(text, ("order_id",), {}, "en", "Any news on ORD-9921?").rule == rule


def test_a_guess_of_one_value_and_a_question_for_the_other_is_undecided() -> None:
    seen = clarifies(
        "I assumed postal code 80331. What is the weight in grams?", ("postal_code", "weight_grams"), {}, "en"
    )
    assert (seen.value, seen.rule) == ("undecided", "states_and_asks")
    assert seen.evidence["stated"] == ["postal_code"]
    assert seen.evidence["asked_for"] == ["weight_grams"]


def test_the_verdict_of_a_guess_in_words() -> None:
    guess = judge(CLARIFY, said("I assumed postal code 80331; would you like me to continue?"))
    assert (guess.selection, guess.passed) == ("answered_instead_of_clarifying", False)
    trivia = judge(CLARIFY, said("Did you know postal codes were invented in 1941?"))
    assert (trivia.selection, trivia.passed) == ("undecided", None)
    assert judge(CLARIFY, said("ZIP... I mean postal code please.")).passed is True
