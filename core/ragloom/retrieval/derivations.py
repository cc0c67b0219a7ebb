"""Other forms of an English word that no stemmer brings together with it.

Snowball leaves irregular forms apart (broke, broken; children), and many nouns from their verbs (failure,
recovery, notification, permission).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from ragloom.snapshot.languages import ENGLISH, stemmer

_FAMILIES: Final = """
    become became
    begin began begun
    bend bent
    bind bound
    bite bit bitten
    blow blew blown
    break broke broken breakage
    bring brought
    build built
    rebuild rebuilt
    burn burnt
    buy bought
    catch caught
    choose chose chosen choice
    cling clung
    come came
    creep crept
    deal dealt
    dig dug
    draw drew drawn
    drink drank drunk
    drive drove driven
    eat ate eaten
    fall fell fallen
    feed fed
    feel felt
    fight fought
    find found
    fly flew flown flight
    forbid forbade forbidden
    forget forgot forgotten
    freeze froze frozen
    give gave given
    go went gone
    grow grew grown growth
    hang hung
    hear heard
    hide hid hidden
    hold held
    keep kept
    know knew known knowledge
    lead led
    learn learnt
    leave left
    lend lent
    lose lost loss losses
    make made
    mean meant
    meet met
    overwrite overwrote overwritten
    pay paid payment
    prove proven proof
    rewrite rewrote rewritten
    ride rode ridden
    ring rang rung
    rise rose risen
    run ran
    see saw seen
    seek sought
    sell sold sale
    send sent
    shake shook shaken
    shoot shot
    show shown
    shrink shrank shrunk
    sing sang sung
    sink sank sunk
    sit sat
    sleep slept
    speak spoke spoken
    spend spent
    spin spun
    spring sprang sprung
    stand stood
    steal stole stolen theft
    stick stuck
    strike struck
    swear swore sworn
    swim swam swum
    swing swung
    take took taken
    teach taught
    tear tore torn
    tell told
    think thought
    throw threw thrown
    understand understood
    wake woke woken
    wear wore worn
    weave wove woven
    win won
    withdraw withdrew withdrawn withdrawal
    write wrote written
    child children
    foot feet
    goose geese
    half halves
    life lives
    man men
    mouse mice
    ox oxen
    person people
    self selves
    shelf shelves
    thief thieves
    tooth teeth
    wife wives
    wolf wolves
    woman women
    analysis analyses analyze analyse
    basis bases
    crisis crises
    diagnosis diagnoses diagnose
    hypothesis hypotheses
    synthesis synthesize
    thesis theses
    appendix appendices
    criterion criteria
    index indices
    matrix matrices
    phenomenon phenomena
    vertex vertices
    long length
    wide width
    deep depth
    high height
    strong strength strengthen
    weigh weight
    warm warmth
    true truth
    compare comparison
    deny denial
    enter entry entries
    expire expiry expiration
    explain explanation
    expose exposure
    disclose disclosure
    fail failure
    maintain maintenance
    respond response
    store storage
    use usage
    repeat repetition
    retain retention
    detain detention
    register registration registry
    acquire acquisition
    believe belief
    destroy destruction
    speed speedup
    decide decision
    divide division
    provide provision
    extend extension
    expand expansion
    suspend suspension
    convert conversion
    invert inversion
    include inclusion
    exclude exclusion
    conclude conclusion
    collide collision
    explode explosion
    permit permission
    submit submission
    transmit transmission
    emit emission
    omit omission
    admit admission
    describe description
    subscribe subscription
    unsubscribe unsubscription
    transcribe transcription
    reduce reduction
    produce production
    reproduce reproduction
    introduce introduction
    deduce deduction
    resolve resolution
    solve solution
    evolve evolution
    receive reception receipt
    perceive perception
    assume assumption
    consume consumption
    absorb absorption
    notify notification
    verify verification
    classify classification
    specify specification
    modify modification
    identify identification
    certify certification
    justify justification
    simplify simplification
    clarify clarification
    qualify qualification
    unify unification
    multiply multiplication
    recover recovery
    deliver delivery
    discover discovery
    invoke invocation
    revoke revocation
    cite citation
    erase erasure
    sign signature
    depart departure
    constrain constraint
    complain complaint
    frequent frequency
    urgent urgency
    private privacy
    stable stability stabilize
    scale scalable scalability
    safe safety
    noise noisy
    health healthy
    history historical
    summary summarize
    priority prioritize
    category categorize categorical
    minimum minimal minimize
    maximum maximal maximize
    optimum optimal optimize
"""


@cache
def _families() -> Mapping[str, Sequence[str]]:
    """By the stem of each word, the words of its family."""
    stem = stemmer(ENGLISH).analyze
    families = [line.split() for line in _FAMILIES.strip().splitlines()]
    return {stem(word)[0]: family for family in families for word in family}


def derivations(word: str) -> Iterator[str]:
    """Other forms of an English word in lower case, as fail of failures."""
    (stem,) = stemmer(ENGLISH).analyze(word)
    yield from _families().get(stem, ())
