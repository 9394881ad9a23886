import { describe, expect, it } from 'vitest'
import { type FilterFields, parseFilter, searchable } from '../../../../../src/tui/state/lists/filter.ts'

interface Row {
  readonly name: string
  readonly owner?: string
  readonly failed?: number
  readonly dueMs?: number
}

const FIELDS: FilterFields<Row> = {
  name: { texts: ({ name }) => [name] },
  owner: { texts: ({ owner = '' }) => [owner] },
  failed: { texts: ({ failed = 0 }) => [failed > 0 ? 'Disk full' : ''], number: ({ failed }) => failed },
  due: { number: ({ dueMs }, nowMs) => dueMs && dueMs - nowMs, isSpan: true },
}

const NOW = 1_000_000

const passes = (filter: string, row: Row) =>
  parseFilter(filter, FIELDS).accepts(() => searchable([row.name, `✗ ${row.failed ?? 0}`]), row, NOW)

const faultOf = (filter: string) => parseFilter(filter, FIELDS).fault

describe('a filter', () => {
  it.each([
    ['', true],
    ['  ', true],
    ['!', true],
    ['ORDERS 47', true],
    ['orders !47', false],
    ['"orders/47"', true],
    ['"orders 47"', false],
    ['!"orders 47"', true],
    ['/s\\/\\d+$/', true],
    ['/S\\/47/', true],
    ['/\\D47/', true],
    ['/^7/', false],
    ['!/^7/', true],
    ['/[A-Z]+\\/4/', true],
    ['name:47', true],
    ['name=47', false],
    ['name=ORDERS/47', true],
    ['name:/^orders/', true],
    ['!name:/^orders/', false],
    ['owner:', true],
    ['owner=', false],
    ['!owner:eve', false],
    ['owner:"eve x"', true],
    ['failed:disk', true],
    ['failed=2', true],
    ['failed=22', false],
    ['failed>1', true],
    ['failed>2', false],
    ['failed>=2', true],
    ['failed<=2', true],
    ['failed<2', false],
    ['due<10m', true],
    ['due>10m', false],
    ['due<=5m due>=300s', true],
    ['!due<10m', false],
    ['due:', false],
  ])('%j leaves an order with two failures, due in five minutes: %j', (filter, expected) => {
    if (filter === 'due:') expect(faultOf(filter)).toBe('due is a number: due>… or due<…')
    else expect(passes(filter, { name: 'Orders/47', owner: 'Eve X', failed: 2, dueMs: NOW + 300_000 })).toBe(expected)
  })

  it('does not find a row by a number that it does not have, in either direction', () => {
    expect([passes('due<1d', { name: 'a' }), passes('due>0s', { name: 'a' })]).toEqual([false, false])
  })

  it.each(['http://x', '12:30', 'a->b', 'w-1:45', 'a=b'])('%j is a word, not a field', filter => {
    expect(faultOf(filter)).toBeUndefined()
    expect(passes(filter, { name: `x ${filter} y` })).toBe(true)
    expect(passes(filter, { name: 'x' })).toBe(false)
  })

  it.each([
    ['ownr:w', 'no field ownr: owner?  ("ownr:…" in quotes searches the text)'],
    ['colour:red', 'no field colour: name owner failed due  ("colour:…" in quotes searches the text)'],
    ['constructor:x', 'no field constructor: name owner failed due  ("constructor:…" in quotes searches the text)'],
    ['name>3', 'name is a text: name:… or name=…'],
    ['failed>', 'failed>: a number is missing, as in >0'],
    ['failed>x', 'failed>x: a number is missing, as in >0'],
    ['due<', 'due<: a time is missing, as in <10m or >1d'],
    ['due<10', 'due<10: a time needs a unit: 30s, 10m, 2h, 1d'],
    ['due<soon', 'due<soon: a time needs a unit: 30s, 10m, 2h, 1d'],
    ['/abc', '/abc has no / at its end: /regexp/, or "/abc" in quotes'],
    ['/a(/', '/a(/ is no regexp: Unterminated group'],
    ['name:/[/', '/[/ is no regexp: Unterminated character class'],
    ['good ownr:\u202ex', 'no field ownr: owner?  ("ownr:…" in quotes searches the text)'],
  ])('%j says what is wrong and leaves all rows', (filter, fault) => {
    expect(faultOf(filter)).toBe(fault)
    expect(passes(filter.replace('good ', ''), { name: 'a' })).toBe(true)
  })

  it('keeps its other terms while one is wrong', () => {
    expect([passes('b due<', { name: 'a' }), passes('b due<', { name: 'b' })]).toEqual([false, true])
  })
})

describe('the marked parts of a displayed text', () => {
  const marked = (filter: string, text: string) =>
    parseFilter(filter, FIELDS)
      .matchesIn(text)
      .map(([from, to]) => text.slice(from, to))

  it.each([
    ['err', 'Error: no ERRor', ['Err', 'ERR']],
    ['aa', 'aaaaa', ['aa', 'aa']],
    ['err rror', 'error', ['err', 'or']],
    ['!err', 'error', []],
    ['owner:w-7 failed>0', 'w-7 failed', ['w-7']],
    ['/e\\w+/', 'Error here', ['Error', 'ere']],
    ['/x*/', 'axa', ['x']],
    ['a.c', 'abc a.c', ['a.c']],
    ['ß', 'Straße', ['ß']],
    ['i', 'İi', []],
    ['', 'abc', []],
  ])('%j in %j are %j', (filter, text, parts) => expect(marked(filter, text)).toEqual(parts))
})
