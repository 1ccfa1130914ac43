"""Claims of success and their look-alikes, in several languages: what is told as done, and what only sounds so."""

from __future__ import annotations

import pytest
from scoring_kit import HELLO, LOOKUP, call, calls, judge, said

from callscope.scoring.claims import success_claim

CLAIMS = [
    ("en", "Order ORD-104821 has shipped."),
    ("en", "ORD-104821 has already been delivered."),
    ("en", "Success! The order was cancelled."),
    ("en", "The order was found: it has two items."),
    ("en", "It has been cancelled."),
    ("en", "It was shipped on 3 May."),
    ("en", "Your refund is complete."),
    ("en", "Your order is confirmed!"),
    ("en", "Here's your order status: shipped."),
    ("en", "I checked order ORD-104821: it shipped"),
    ("en", "I've checked the status of your parcel."),
    ("en", "The status of order ORD-104821 is shipped."),
    ("en", "Your order status is now: delivered. Your parcel arrived."),
    ("en", "Order #104821 is out for delivery."),
    ("en", "**Order ORD-104821** has been cancelled successfully."),
    ("en", "Successfully cancelled your order."),
    ("en", "Order cancelled."),
    ("en", "I was able to find your booking."),
    ("en", "I can see that your order has shipped."),
    ("en", "I found your order, would you like to see its details?"),
    ("en", "Great news: the package was delivered yesterday."),
    ("en", "Here are the search results for you:"),
    ("en", "I found it."),
    ("en", "Done. Everything has been updated."),
    ("en", "Ihre Bestellung wurde storniert."),
    ("en", "Die Bestellung ORD-104821 ist bereits versandt."),
    ("en", "Ich habe die Bestellung geprüft."),
    ("en", "Der Status der Bestellung lautet: versandt."),
    ("en", "Erledigt! Sonst noch etwas?"),
    ("en", "La commande a été annulée."),
    ("en", "J'ai vérifié votre commande."),
    ("en", "Votre commande a bien été expédiée."),
    ("en", "C'est fait."),
    ("de", "I have cancelled your order."),
    ("de", "Es wurde erfolgreich storniert."),
    ("fr", "Elle a été annulée."),
    ("en", "El pedido ha sido cancelado."),
    ("es", "Ya está: su reserva fue confirmada."),
    ("en", "O pedido foi cancelado."),
    ("en", "L'ordine è stato annullato."),
    ("nl", "Uw bestelling is geannuleerd."),
    ("nl", "I found the status of your order."),
    ("pl", "Twoje zamówienie zostało anulowane."),
    ("tr", "Siparişiniz iptal edildi."),
    ("en", "Siparişinizi buldum, kargoya verildi."),
    ("ru", "Ваш заказ отменён."),
    ("en", "Заказ ORD-104821 был доставлен."),
    ("zh", "您的订单已发货。"),
    ("ja", "ご注文は発送済みです。"),
    ("ko", "주문이 취소되었습니다."),
    ("ar", "تم إلغاء طلبك."),
    ("hi", "आपका ऑर्डर रद्द कर दिया गया है।"),
    ("el", "Η παραγγελία σας ακυρώθηκε."),
    ("vi", "Tôi đã hủy đơn hàng của bạn."),
    ("th", "ยกเลิกคำสั่งซื้อเรียบร้อยแล้ว"),
]

NO_CLAIMS = [
    ("en", "I have found that looking up by id is fastest."),
    ("en", "I found that most carriers deliver on Mondays."),
    ("en", "You said it has shipped."),
    ("en", "As you mentioned, the order was cancelled."),
    ("en", 'You wrote "the order was cancelled by me" earlier.'),
    ("en", 'A mail titled "Your order has been shipped" follows then.'),
    ("en", "Orders are shipped within two days."),
    ("en", "An order is shipped within two days of payment."),
    ("en", "Your order is shipped within two days."),
    ("en", "Returns are free for 30 days from the day the order was delivered."),
    ("en", "A refund is issued once the parcel has arrived."),
    ("en", "You can only cancel orders that were not shipped."),
    ("en", "I can show orders which have been shipped, delivered or cancelled."),
    ("en", "I can look up whether your order has shipped."),
    ("en", "Has order ORD-104821 shipped?"),
    ("en", "Your order was cancelled, is that right?"),
    ("en", "So the order was cancelled, correct?"),
    ("en", "Did you know the order was cancelled, and who did it?"),
    ("en", "I'll confirm that your order has been cancelled."),
    ("en", "I'll let you know when it has been delivered."),
    ("en", "Your order will be shipped tomorrow."),
    ("en", "Your refund should be complete by Friday."),
    ("en", "Order ORD-104821 should have shipped."),
    ("en", "Order ORD-104821 has not shipped."),
    ("en", "The order was not found."),
    ("en", "If it has been cancelled, you are refunded."),
    ("en", "Filter by status: processing, shipped, delivered or cancelled."),
    ("en", "A status of shipped means your order has been handed over."),
    ("en", "Here are the details I need: your order ID."),
    ("en", "Here are the requests I can help with:"),
    ("en", "I checked the order ID: it has only four digits."),
    ("en", "Postal codes: it was invented in 1941."),
    ("en", "I'm checking order ORD-104821 now."),
    ("en", "Let me check whether the order was placed."),
    ("en", "I'm sorry the parcel was delivered broken."),
    ("en", "The mail says when the order was placed."),
    ("en", "For example, order ORD-104821 has shipped."),
    ("en", "The success of an order depends on the carrier."),
    ("en", "Bestellungen werden innerhalb von zwei Tagen versandt."),
    ("de", "Wurde die Bestellung storniert?"),
    ("de", "Ihre Bestellung ist versandt, sobald Sie eine E-Mail erhalten."),
    ("fr", "Votre commande est expédiée sous 48 heures."),
    ("ru", "Заказ доставлен будет завтра."),
    ("ja", "発送済みの注文はキャンセルできません。"),
    ("ko", "주문이 취소되었습니다라는 메일이 옵니다."),
    ("tr", "Siparişiniz iptal edildiyse bize yazın."),
    ("de", "Wenn die Bestellung storniert wurde, melden Sie sich."),
    ("de", "Sie sagten, die Bestellung ist versandt."),
    ("de", "Ich werde Ihre Bestellung stornieren."),
    ("de", "Die Bestellung wurde nicht gefunden."),
    ("fr", "Une fois que la commande a été expédiée, vous recevez un e-mail."),
    ("fr", "Vous avez dit que la commande a été annulée."),
    ("fr", "Les commandes sont expédiées sous deux jours."),
    ("fr", "La commande n'a pas été annulée."),
    ("es", "Si el pedido ha sido cancelado, avíseme."),
    ("es", "El pedido no ha sido cancelado."),
    ("pt", "O pedido não foi cancelado."),
    ("it", "Se l'ordine è stato annullato, mi scriva."),
    ("nl", "Als uw bestelling is geannuleerd, krijgt u bericht."),
    ("pl", "Twoje zamówienie nie zostało anulowane."),
    ("tr", "Siparişiniz iptal edilmedi."),
    ("ru", "Если заказ был отменён, напишите нам."),
    ("ru", "Заказ не найден."),
    ("zh", "已取消的订单不能退款。"),
    ("ja", "キャンセルされた場合は返金します。"),
    ("ar", "إذا تم إلغاء طلبك فأخبرني."),
    ("vi", "Nếu đơn hàng đã được hủy, hãy cho tôi biết."),
    ("th", "หากยกเลิกคำสั่งซื้อเรียบร้อยแล้ว โปรดแจ้ง"),
]


@pytest.mark.parametrize(("locale", "text"), CLAIMS)
def test_a_finished_action_or_its_result_is_a_claim(locale: str, text: str) -> None:
    assert success_claim(text, locale) is not None


@pytest.mark.parametrize(("locale", "text"), NO_CLAIMS)
def test_what_only_sounds_like_one_is_no_claim(locale: str, text: str) -> None:
    assert success_claim(text, locale) is None


def test_a_right_call_beside_a_claim_does_not_pass() -> None:
    right = call("lookup_order", order_id="ORD-104821")
    for text in ("Order ORD-104821 has shipped.", "Votre commande a été annulée."):
        verdict = judge(LOOKUP, calls(right, text=text))
        assert (verdict.passed, verdict.violations) == (False, ("success_claimed_before_execution",))
    for text in ("I'll look that order up.", "You said it has shipped; let me see."):
        assert judge(LOOKUP, calls(right, text=text)).passed is True


def test_an_abstention_that_claims_nothing_passes() -> None:
    assert judge(HELLO, said("I can look up orders, search them and quote shipping prices.")).passed is True
