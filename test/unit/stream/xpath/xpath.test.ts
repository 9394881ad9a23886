import { describe, expect, it } from 'vitest'
import type { StreamDocument } from '../../../../src/stream/document.ts'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { isNothing, parseXPath, type Selected } from '../../../../src/stream/xpath/xpath.ts'
import { documentText, Play } from '../../../support/stream-builder.ts'

/** A fork of three with a join: one branch has been worked on, one has failed. */
const play = Play.joined('Done', 'Search', 'Search', 'Pay')
  .after({ op: 'start', event: '01.00', owner: 'worker-7' })
  .after({ op: 'fail', event: '02.00', msg: 'no answer' })

const selectEvents = async (document: StreamDocument, expression: string): Promise<Selected> =>
  (await parseXPath(expression)).select(document)

/** Ids of selected events, or the values. */
async function select(expression: string, { document } = play) {
  const selected = await selectEvents(document, expression)
  if (selected.kind === 'values') return selected.values
  return selected.positions.map(position => document.events[position]?.id)
}

async function fault(expression: string): Promise<string> {
  const error = await selectEvents(play.document, expression).catch((cause: unknown) => cause)
  if (!(error instanceof InvalidValue)) throw new Error(`${expression} was taken, or failed otherwise: ${error}`)
  return error.message
}

describe('an expression selects events', () => {
  it.each([
    ["./Event[@status='init']", ['03.00']],
    ["/EventStream/Event[@status='init']", ['03.00']],
    ["//Event[@name='Search']", ['01.00', '02.00']],
    ["Event[@name='Search' and @status='aborted' or @name='Pay']", ['02.00', '03.00']],
    ["Event[contains(@msg, 'answer')]", ['02.00']],
    ["Event[starts-with(@id, '0') and not(@prev)]", ['00']],
    ['Event[2]', ['01.00']],
    ['Event[last()]', ['01']],
    ['Event[position() > 3]', ['03.00', '01']],
    ["Event[@lc:owner='worker-7']", ['01.00']],
    ["Event[@lc:join='wait']", ['01']],
    ["Event[@id='01']/preceding-sibling::Event[1]", ['03.00']],
    ["Event[@id='02.00']/following-sibling::Event", ['03.00', '01']],
    ["Event[@name='Pay'] | Event[@id='00']", ['00', '03.00']],
    ['for $event in Event[position() < 3] return $event', ['00', '01.00']],
    ["Event[@id=('03.00','01.00')]", ['01.00', '03.00']],
    ["Event[@status='paused']", []],
    ['Event/Event', []],
    ['text()', []],
  ])('%s', async (expression, ids) => {
    expect(await select(expression)).toEqual(ids)
  })

  it('each once and in document order, whatever the order in the expression', async () => {
    expect(await select('Event[5], Event[1], Event[5]')).toEqual(['00', '01'])
  })

  it('in no namespace, whatever the name and declarations of the document element', async () => {
    const text =
      '<o:Orders xmlns="urn:d" xmlns:o="urn:o" xmlns:x="urn:x"><Event xmlns="" id="00" x:colour="red"/></o:Orders>'
    const document = readDocument(text)
    const other = Object.assign(new Play(), { document })
    expect(await select('./Event', other)).toEqual(['00'])
    expect(await select('/o:Orders/Event[@x:colour]', other)).toEqual(['00'])
    expect(await select('/Orders/Event', other)).toEqual([])
  })

  it('with our attributes under lc: even if the document uses another prefix', async () => {
    const text = documentText({ id: '00', 'lc:owner': 'w1' }).replaceAll('lc:', 'q:').replace('xmlns:lc', 'xmlns:q')
    expect(await select('Event[@lc:owner and @q:owner]', new Play(text))).toEqual(['00'])
  })

  it('by empty attributes such as next="", but not by absent ones', async () => {
    const text = documentText({ id: '00', next: '' }, { id: '01', prev: '00' })
    expect(await select("Event[@next='']", new Play(text))).toEqual(['00'])
  })
})

describe('an expression returns values', () => {
  it.each([
    ['count(Event)', [5]],
    ["count(Event[@status='init']) > 3", [false]],
    ['not(Event)', [false]],
    ['Event[2]/@id', ['01.00']],
    ['Event/@lc:fence', ['2']],
    ['string(Event[3]/@msg)', ['no answer']],
    ["string-join(Event/@id, ' ')", ['00 01.00 02.00 03.00 01']],
    ['@lc:v', ['3']],
    ["xs:date('2026-03-01')", ['2026-03-01T00:00:00.000Z']],
    ["trace(1, 'said')", [1]],
  ])('%s', async (expression, values) => {
    expect(await select(expression)).toEqual(values)
  })

  it('that represent no event, 0, false and the empty text if it selects nothing', async () => {
    const nothing = async (expression: string) => isNothing(await selectEvents(play.document, expression))
    for (const expression of ["Event[@status='x']", 'count(())', 'false()', "''", 'number("x")', 'Event/@none'])
      expect(await nothing(expression), expression).toBe(true)
    for (const expression of ['Event', 'count(Event)', 'true()', "'0'", '(0, 0)', 'Event/@id'])
      expect(await nothing(expression), expression).toBe(false)
  })
})

describe('an expression evaluates the document as its text has it', () => {
  const foreign = `<o:Orders xmlns:lc="urn:leasectl:v1" xmlns:o="urn:o" lc:v="12" lc:born="b" site="north" o:kind="k">
    <Event id="00" name="A" lc:owner="w" o:colour="red"/></o:Orders>`

  it.each([
    ['name(/*)', ['o:Orders']],
    ['local-name(/*)', ['Orders']],
    ['string(namespace-uri(/*))', ['urn:o']],
    // Attributes have no order; they are sorted here.
    ['@*', ['b', 'k', 'north', '12']],
    ["string-join(@*/name(), ' ')", ['lc:born o:kind site lc:v']],
    ["@*[namespace-uri() = '']/name()", ['site']],
    ["@*[namespace-uri() = 'urn:o']/local-name()", ['kind']],
    ["string-join(Event/@*/name(), ' ')", ['o:colour id name lc:owner']],
    ['Event/@site', []],
    ['Event/../@site', ['north']],
    ['count(/node())', [1]],
  ])('%s', async (expression, values) => {
    expect(await select(expression, new Play(foreign))).toEqual(values)
  })

  it.each([
    ["namespace-uri(/*) = 'urn:d'", '<EventStream xmlns="urn:d"><Event xmlns="" id="00"/></EventStream>'],
    ["namespace-uri(/*) = ''", documentText({ id: '00' })],
    ['count(@*) = 0', documentText({ id: '00' })],
  ])('%s', async (expression, text) => {
    expect(await select(expression, new Play(text))).toEqual([true])
  })
})

describe('an expression is refused in one sentence', () => {
  it.each([
    ['./Event[', 'it cannot be read from character 8 on (XPST0003)'],
    ['Event[@status=', 'it cannot be read from character 15 on (XPST0003)'],
    ['Event[\n@status=', 'it cannot be read from line 2, character 9 on (XPST0003)'],
    ['foo:bar', 'The prefix foo could not be resolved (XPST0081)'],
    ['lenght(Event)', 'Function lenght with arity of 1 not registered (XPST0017)'],
    ["1 + 'a'", 'addOp not available for types xs:integer and xs:string (XPTY0004)'],
    ['.', 'it selects the document itself'],
    ['/', 'it selects the document itself'],
    ['Event[1], 3', 'it selects both events and values'],
    ['map { 1: 2 }', 'it selects something that is not an event, text, number or boolean'],
    ['error()', 'it cannot be evaluated (FOER0000)'],
  ])('%s', async (expression, message) => {
    expect(await fault(expression)).toBe(message)
  })

  it.each([
    "doc('file:///etc/passwd')",
    "doc-available('file:///etc/passwd')",
    "collection('file:///etc')",
    "unparsed-text('file:///etc/passwd')",
    "json-doc('file:///etc/passwd')",
    "environment-variable('PATH')",
    'available-environment-variables()',
    "Q{http://fontoxml.com/fontoxpath}fetch('http://localhost')",
    "transform(map { 'stylesheet-location': 'x' })",
    "load-xquery-module('x')",
  ])('if it reaches outside the document: %s', async expression => {
    expect(await fault(expression)).toMatch(/not registered \(XPST0017\)$/)
  })

  it.each([
    'insert node <a/> into .',
    'delete node Event[1]',
    "replace value of node Event[1]/@id with 'x'",
    '<a/>',
    'element a {}',
    'declare variable $x := 1; $x',
  ])('if it is XQuery or changes the document: %s', async expression => {
    await fault(expression)
    expect(play.document.events).toHaveLength(5)
  })

  it('with a position of several digits, and with advice if there is any', async () => {
    expect(await fault(`${'Event | '.repeat(12)}Event[`)).toMatch(/from character \d\d\d on/)
    const error = await selectEvents(play.document, '.').catch((cause: unknown) => cause)
    expect(error).toMatchObject({ hint: 'Select events, as ./Event does, or values.' })
  })

  it('before the document is read, if no document could make it valid', async () => {
    await expect(parseXPath('./Event[')).rejects.toThrow(InvalidValue)
    await expect(parseXPath('doc("x")')).rejects.toThrow(InvalidValue)
    const dynamic = await parseXPath('xs:integer(string(Event[1]/@name))')
    expect(() => dynamic.select(play.document)).toThrow(InvalidValue)
  })

  it('if it compares all events of a large document with each other', async () => {
    const events = Array.from({ length: 3_000 }, (_, at) => ({ id: String(at) }))
    const { document } = new Play(documentText(...events))
    await expect(selectEvents(document, 'Event[following-sibling::Event/@id = @id]')).rejects.toThrow(/5000000 nodes/)
  })
})
