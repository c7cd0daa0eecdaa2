"""How many requests are in flight, who goes first, and what counts against a case's deadline."""

from __future__ import annotations

import asyncio
import time

from pytest_clinical_drift.subjects.limits import AdaptiveLimiter, CaseClock


def test_the_limiter_grows_by_one_per_answer_until_the_first_complaint() -> None:
    """8 places; eight answers make 16; a complaint halves; one about an older request does not halve again."""

    async def story() -> list[float]:
        limiter = AdaptiveLimiter()
        limits = [limiter.limit]
        tickets = [await limiter.acquire((0,)) for _ in range(8)]
        for _ in range(8):
            limiter.in_flight = int(limiter.limit)
            limiter.answered(slowly=False)
        limits.append(limiter.limit)
        limiter.complained(tickets[0], None)
        limiter.complained(tickets[1], None)
        limits.append(limiter.limit)
        limiter.in_flight = 8
        limiter.answered(slowly=False)
        limits.append(limiter.limit)
        return limits

    assert asyncio.run(story()) == [8.0, 16.0, 8.0, 8.125]


def test_the_limiter_serves_the_smallest_priority_first() -> None:
    """With one place, the earlier turn goes first, whoever came first."""

    async def story() -> list[int]:
        limiter, order = AdaptiveLimiter(1), []
        await limiter.acquire((0,))

        async def wait(turn: int) -> None:
            await limiter.acquire((turn,))
            order.append(turn)
            limiter.release()

        tasks = [asyncio.create_task(wait(turn)) for turn in (3, 1, 2)]
        await asyncio.sleep(0)
        limiter.release()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(story()) == [1, 2, 3]


def test_a_cancelled_wait_leaves_no_place_behind() -> None:
    """Giving up while waiting, or in the moment of being admitted, does not leak a place."""

    async def story() -> int:
        limiter = AdaptiveLimiter(1)
        await limiter.acquire((0,))
        waiting = asyncio.create_task(limiter.acquire((1,)))
        await asyncio.sleep(0)
        limiter.release()  # admits it
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return limiter.in_flight

    assert asyncio.run(story()) == 0


def test_waiting_for_a_place_does_not_use_up_a_case() -> None:
    """The clock runs while at least one request of the case is being worked on."""
    clock = CaseClock(10.0)
    time.sleep(0.05)
    assert clock.left() == 10.0
    with clock, clock:
        time.sleep(0.02)
    left = clock.left()
    time.sleep(0.05)
    assert clock.left() == left
    assert 9.0 < left < 10.0
