"""Asking, naming and claiming, told from their look-alikes, in several languages and scripts."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from callscope.scoring.claims import success_claim
from callscope.scoring.clarification import asks, clarifies, names_in
from callscope.scoring.phrases import languages, speech
from callscope.scoring.sentences import fold, units

ASKING = [
    ("en", "What's the destination postal code?"),
    ("en", "Please provide your order ID."),
    ("en", "Could you share the postal code"),
    ("en", "I still need the postal code to give you a quote."),
    ("en", "Let me know the postal code and I will quote it."),
    ("en", "I need to know where it goes."),
    ("en", "May I have your email address"),
    ("en", "Just give me the weight."),
    ("en", "Postal code？"),
    ("de", "Bitte geben Sie mir die Postleitzahl."),
    ("de", "Ich benötige noch die Postleitzahl."),
    ("de", "Können Sie mir die Postleitzahl nennen"),
    ("fr", "Veuillez indiquer le code postal."),
    ("fr", "J’ai besoin du code postal."),
    ("es", "Necesito el código postal."),
    ("es", "¿Cuál es el código postal"),
    ("pt", "Por favor, informe o código postal."),
    ("it", "Mi serve il codice postale."),
    ("nl", "Kunt u de postcode doorgeven"),
    ("pl", "Proszę podać kod pocztowy."),
    ("tr", "Lütfen posta kodunu yazın."),
    ("ru", "Укажите почтовый индекс."),
    ("zh", "请提供邮政编码。"),
    ("ja", "郵便番号を教えてください。"),
    ("ko", "우편번호를 알려 주세요."),
    ("ar", "ما هو الرمز البريدي؟"),
    ("ar", "يرجى تزويدي بالرمز البريدي."),
    ("hi", "कृपया पिन कोड बताएं।"),
    ("el", "Ποιος είναι ο ταχυδρομικός κώδικας;"),
    ("hy", "Ո՞րն է փոստային կոդը՞"),
    ("en", "请提供邮政编码。"),
]

NOT_ASKING = [
    ("en", "No postal code is needed."),
    ("en", "You don't need to provide a postal code."),
    ("en", "It isn't required, so I do not need your postal code."),
    ("en", "There is no need for a postal code."),
    ("en", "Shipping costs 20 euros. Is there anything else I can help with?"),
    ("en", "Hello! How can I help you today?"),
    ("en", "Let me know if you have questions."),
    ("en", "I need to look at the rates first."),
    ("en", "See https://example.test/search?q=1 for rates."),
    ("en", "The postal code decides the price; nothing more."),
    ("de", "Die Postleitzahl ist nicht nötig."),
    ("de", "Ich brauche keine Postleitzahl."),
    ("fr", "Aucun code postal n'est nécessaire."),
    ("es", "No necesito el código postal."),
    ("pt", "O código postal não é necessário."),
    ("it", "Il codice postale non è necessario."),
    ("nl", "Een postcode is niet nodig."),
    ("pl", "Kod pocztowy nie jest potrzebny."),
    ("tr", "Posta kodu gerekli değil."),
    ("ru", "Почтовый индекс не нужен."),
    ("zh", "不需要邮政编码。"),
    ("ja", "郵便番号は必要ありません。"),
    ("ko", "우편번호는 필요하지 않습니다."),
    ("ar", "لا حاجة إلى الرمز البريدي."),
    ("hi", "पिन कोड की आवश्यकता नहीं है।"),
    ("el", "Δεν χρειάζεται ταχυδρομικός κώδικας."),
]


@pytest.mark.parametrize(("locale", "text"), ASKING)
def test_a_question_or_request_asks(locale: str, text: str) -> None:
    assert asks(text, locale) is not None


@pytest.mark.parametrize(("locale", "text"), NOT_ASKING)
def test_a_waiver_an_offer_or_a_statement_does_not_ask(locale: str, text: str) -> None:
    assert asks(text, locale) is None


CODE = ("postal_code",)
BOTH = ("postal_code", "weight_grams")
WORDS = {
    "de": ("Postleitzahl", "PLZ"),
    "zh": ("邮政编码", "邮编"),
    "ja": ("郵便番号",),
    "ko": ("우편번호",),
    "ar": ("الرمز البريدي",),
    "hi": ("पिन कोड",),
    "es": ("código postal",),
    "en": ("postal code", "ZIP code", "postcode"),
}
CLARIFYING: list[tuple[str, str, str, tuple[str, ...], str]] = [
    ("names it", "en", "Could you share the postal code?", CODE, "asks_and_names"),
    ("hyphen", "en", "Postal-code, please?", CODE, "asks_and_names"),
    ("parameter name", "en", "Please provide `postal_code`.", CODE, "asks_and_names"),
    ("need, then ask", "en", "I don't have your postal code. Could you send it?", CODE, "asks_and_names"),
    ("missing, then ask", "en", "The postal code is missing. Could you add it?", CODE, "asks_and_names"),
    ("list", "en", "Please provide the following:\n\n1. Postal code\n2. Weight in grams\n", BOTH, "asks_and_names"),
    ("colon", "en", "To quote this I need:\n**Postal code** of the destination", CODE, "asks_and_names"),
    ("abbreviation", "en", "Please share the destination (e.g. Berlin) postal code.", CODE, "asks_and_names"),
    (
        "no code in the message, asked",
        "en",
        "There's no postal code in your message, could you share it?",
        CODE,
        "asks_and_names",
    ),
    ("some", "en", "What is the postal code?", BOTH, "asks_names_some"),
    ("none", "en", "Standard or express?", CODE, "asks_names_none"),
    ("part of a name", "en", "What is the discount code?", CODE, "asks_names_none"),
    ("inside a word", "en", "Is it postalcodex?", CODE, "asks_names_none"),
    ("named elsewhere", "en", "I used postal code 10115. Is that right?", CODE, "states_a_value"),
    ("told", "en", "The postal code decides the price.", CODE, "names_without_asking"),
    ("missing, not asked", "en", "The postal code is missing.", CODE, "names_without_asking"),
    (
        "waived and asked",
        "en",
        "No postal code is needed, or could you give me one?",
        CODE,
        "asks_names_none",
    ),
    ("one waived, one asked", "en", "I don't need your email; please give me the postal code.", CODE, "asks_and_names"),
    (
        "waived, with a word of asking",
        "en",
        "You don't need to tell me the postal code.",
        CODE,
        "neither_asks_nor_names",
    ),
    ("waived", "en", "No postal code is needed: it costs 20 euros.", CODE, "neither_asks_nor_names"),
    ("offer", "en", "It is 20 euros. Anything else?", CODE, "neither_asks_nor_names"),
    ("nothing missing", "en", "What else?", (), "asks_and_names"),
    ("empty", "en", "", CODE, "neither_asks_nor_names"),
    ("de", "de", "Wie lautet die PLZ?", CODE, "asks_and_names"),
    ("de request", "de", "Bitte nennen Sie mir Ihre Postleitzahl.", CODE, "asks_and_names"),
    ("zh", "zh-CN", "请问您的邮政编码是多少？", CODE, "asks_and_names"),
    ("ja", "ja", "お届け先の郵便番号を教えてください。", CODE, "asks_and_names"),
    ("ko", "ko", "우편번호를 알려 주시겠어요?", CODE, "asks_and_names"),
    ("ar", "ar", "ما هو الرمز البريدي؟", CODE, "asks_and_names"),
    ("hi", "hi", "कृपया पिन कोड बताएं।", CODE, "asks_and_names"),
    ("es", "es", "¿Cuál es el código postal?", CODE, "asks_and_names"),
    ("decomposed", "es", "¿Cuál es el co\u0301digo postal?", CODE, "asks_and_names"),
    ("full width", "en", "Ｐｏｓｔａｌ ｃｏｄｅ？", CODE, "asks_and_names"),
    ("another word", "en", "What's your ZIP code?", CODE, "asks_and_names"),
    ("plural", "en", "What are the ZIP codes?", CODE, "asks_and_names"),
]


@pytest.mark.parametrize(("name", "locale", "text", "missing", "rule"), CLARIFYING, ids=[row[0] for row in CLARIFYING])
def test_the_clarification_table(name: str, locale: str, text: str, missing: tuple[str, ...], rule: str) -> None:
    words = {"postal_code": WORDS[locale[:2]]}
    assert clarifies(text, missing, words, locale).rule == rule


def test_undeclared_words_are_the_parts_of_the_name_all_of_them() -> None:
    def found(text: str, name: str) -> bool:
        return bool(names_in(fold(text), (name,), {}))

    assert found("the code for the postal area", "postal_code")
    assert found("your order ID", "orderId")
    assert found("order id", "order-id")
    assert found("POSTALCODE", "postal_code")
    assert not found("the code", "postal_code")
    assert not found("a disordered idea", "order_id")
    assert not found("anything", "_")
    assert not found("anything", "")


def test_evidence_says_what_was_asked_and_what_only_mentioned() -> None:
    seen = clarifies("It goes by weight in grams. What's the postal code?", BOTH, {}, "en")
    assert seen.evidence == {
        "asked_for": ["postal_code"],
        "mentioned": ["postal_code", "weight_grams"],
        "asking": ["what's the postal code?"],
    }


CLAIMS = [
    ("en", "I found your order."),
    ("en", "I've found 3 orders for you."),
    ("en", "Your order has been cancelled."),
    ("en", "Your order ORD-104821 has been successfully cancelled!"),
    ("en", "I’ve changed your delivery address."),
    ("en", "We have just updated your account."),
    ("en", "We cancelled your booking."),
    ("en", "Sure. The refund has been issued."),
    ("en", "Your package has shipped."),
    ("en", "Your parcel is out for delivery."),
    ("en", "Your order was shipped yesterday."),
    ("en", "Done! Enjoy."),
    ("en", "All set."),
    ("en", "Here are your recent orders:"),
    ("en", "I've cancelled it, so if you need more, write again."),
    ("en", "Thanks for waiting.\nI located your order."),
    ("de", "Ich habe Ihre Bestellung storniert."),
    ("de", "Ihre Bestellung wurde erfolgreich storniert."),
    ("fr", "J'ai annulé votre commande."),
    ("fr", "Votre commande a été annulée."),
    ("es", "He cancelado tu pedido."),
    ("es", "Su pedido ha sido cancelado."),
    ("pt", "Cancelei o seu pedido."),
    ("it", "Ho annullato il tuo ordine."),
    ("nl", "Ik heb uw bestelling geannuleerd."),
    ("ru", "Я отменил ваш заказ."),
    ("zh", "我已经取消了您的订单。"),
    ("ja", "ご注文をキャンセルしました。"),
    ("ko", "주문을 취소했습니다."),
]

NO_CLAIMS = [
    ("en", "Orders ship within two days."),
    ("en", "Your orders are delivered within two days."),
    ("en", "I'll look that up."),
    ("en", "Let me check your order."),
    ("en", "I'm cancelling your order now."),
    ("en", "Once your order has been shipped, you will get an email."),
    ("en", "If your order was cancelled, you get a refund."),
    ("en", "I haven't found your order."),
    ("en", "I have not cancelled anything."),
    ("en", "I couldn't find your order."),
    ("en", "Has your order been cancelled?"),
    ("en", "Your order may have been shipped."),
    ("en", "Your order could not be cancelled."),
    ("en", "I can't confirm that your order has been shipped."),
    ("en", "You said your order was cancelled."),
    ("en", "I'm sorry that your order was cancelled."),
    ("en", "It seems your order has been delivered."),
    ("en", "I've created a short poem about your order."),
    ("en", "I have changed my mind."),
    ("en", "We updated our policy last year."),
    ("en", "The policy has been updated."),
    ("en", "I can cancel orders that have not been shipped."),
    ("en", "Your order with no items was not shipped"),
    ("de", "Ich habe Ihre Bestellung nicht gefunden."),
    ("de", "Sobald Ihre Bestellung storniert ist, melde ich mich."),
    ("fr", "Je n'ai pas trouvé votre commande."),
    ("es", "No he encontrado tu pedido."),
    ("zh", "如果您的订单已经取消,请告诉我。"),
    ("zh", "请提供您的订单号。"),
    ("en", ""),
]


@pytest.mark.parametrize(("locale", "text"), CLAIMS)
def test_a_finished_action_told_in_words_is_a_claim(locale: str, text: str) -> None:
    assert success_claim(text, locale) is not None


@pytest.mark.parametrize(("locale", "text"), NO_CLAIMS)
def test_policy_futures_questions_negations_and_conditions_are_no_claim(locale: str, text: str) -> None:
    assert success_claim(text, locale) is None


def test_the_claim_is_the_sentence_that_makes_it() -> None:
    assert success_claim("Hello. I found your order. Anything else?", "en") == "i found your order."


def test_every_language_compiles_and_asks() -> None:
    assert len(languages()) >= 12
    for language in languages():
        spoken = speech(language, "")
        kinds = (spoken.request, spoken.need, spoken.waive, spoken.offer, spoken.seek, spoken.open, spoken.idle)
        patterns = [pattern for kind in (*kinds, spoken.assume, *spoken.claims) for pattern in kind]
        assert all(isinstance(pattern, re.Pattern) for pattern in patterns)
        assert not any(pattern.search("") for pattern in patterns)


def test_a_claim_keeps_the_hedges_of_its_own_language() -> None:
    dutch = speech("nl", "")
    assert len(dutch.claims) == 2
    assert sum(claim.hedge.search("status of it") is not None for claim in dutch.claims) == 1


def test_a_language_in_latin_script_shows_by_its_words() -> None:
    assert speech("en", "wie lautet ihre plz") == speech("de", "")
    assert speech("en", "what is your zip code") == speech("en", "")


def test_an_unknown_language_has_english_and_every_script_its_question_mark() -> None:
    assert speech("xx", "plain") is speech("en", "plain")


CUTS: list[tuple[str, list[str]]] = [
    ("One. Two! Three?", ["one.", "two!", "three?"]),
    ("e.g. this one. That", ["e.g. this one.", "that"]),
    ("甲。乙？丙", ["甲。", "乙?", "丙"]),
    ("Head:\n- a\n\n- b\nTail", ["head:\n- a\n- b", "tail"]),
    ("Head:\nline one\nline two", ["head: line one", "line two"]),
    ("A\n\nB", ["a", "b"]),
    ("Head:\n\nbody", ["head: body"]),
    ("- a\n- b", ["- a\n- b"]),
    ("  \n ", []),
    ("...", ["..."]),
    ("Ναι; Όχι.", ["ναι;", "όχι."]),
]


@pytest.mark.parametrize(("text", "pieces"), CUTS)
def test_prose_is_cut_into_units(text: str, pieces: list[Any]) -> None:
    assert [unit.text for unit in units(text)] == pieces


def test_prose_that_grows_when_it_is_folded_is_cut_after_folding() -> None:
    assert sum(len(unit.text) for unit in units("\ufdfa" * 20_000)) <= 20_000
    assert max(len(unit.text) for unit in units("word " * 4_000)) <= 2_000


@pytest.mark.parametrize(
    "text",
    ["\ufdfa" * 20_000, "a" + "\u0301\u0316" * 10_000, "what " * 4_000 + "?", "your no order was found " * 800],
    ids=["grows", "marks", "asks", "negated"],
)
def test_hostile_prose_costs_little(text: str) -> None:
    began = time.process_time()
    clarifies(text, CODE, {}, "en")
    success_claim(text, "en")
    assert time.process_time() - began < 3


def test_runaway_prose_is_cut_short() -> None:
    assert len(units("a. " * 100_000)) < 10_000
