import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newEvent, type StreamEvent } from '../../../src/stream/event.ts'
import { sumOf } from '../../../src/stream/fingerprint.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'
import { xelementLoad, xelementSelect } from '../../support/xelement.ts'
import { aDocument } from './xml/arbitraries.ts'

const fixture = (name: string) => readFileSync(new URL(`../../support/fixtures/${name}`, import.meta.url), 'utf8')
const eventsOf = (text: string) => readDocument(text).events

/** A second implementation that works on the text, without our reader. */
function naiveSum(text: string): string {
  const hash = createHash('sha256')
  for (const event of xelementSelect(xelementLoad(text))) {
    const lines = event.attributes
      .filter(({ uri, value }) => value !== '' && uri !== 'http://www.w3.org/2000/xmlns/')
      .map(({ name, uri, value }) => `{${uri}}${name.replace(/^.*:/, '')}=${JSON.stringify(value)}\n`)
    hash.update(lines.sort().join(''))
    hash.update('\n')
  }
  return `1:${hash.digest('hex')}`
}

describe('lc:sum, stream-format 5', () => {
  it.each([
    ['sum-golden.xml', '1:7c2524646b1cbbdd65b8fc6d6e35b3d5779d2cef46952232dc655baa1079756b'],
    ['2013-us.xml', '1:63339f7e4f3facd93d06c837b4b4b62d7f7b79de10d2dc5863f43a438dea33e2'],
    ['foreign.xml', '1:e29e9a1db07022044998b2f444bffe46587f92f914c5e3a16ed1c6e5a203c2cf'],
  ])('the sum of %s is the one that fixtures/sum-golden.py computed', (name, sum) => {
    const text = fixture(name)
    expect(sumOf(eventsOf(text))).toBe(sum)
    expect(naiveSum(text)).toBe(sum)
  })

  it('the sums of no event and of an event without attributes are those of sha256sum', () => {
    expect(sumOf([])).toBe('1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(sumOf([newEvent({ id: '00' })])).toBe('1:01bdf7edcb669c0f5a29815e2877a241455f82e402a074984213fac4b230ee71')
  })

  it('the sum agrees with the naive implementation on any document', () => {
    fc.assert(
      fc.property(aDocument(), ({ text, document }) => {
        expect(sumOf(document.events)).toBe(naiveSum(text))
      }),
    )
  })

  it('the sum ignores child nodes, prefixes, attribute order, empty attributes and declarations', () => {
    const one = '<S xmlns:lc="urn:leasectl:v1"><Event id="00" name="a" lc:owner="w" lc:x="1"/></S>'
    const other =
      '<T xmlns:q="urn:leasectl:v1"><!-- --><Event q:x="1" q:owner="w" xmlns:n="urn:n" name="a" next="" id="00">t<b/></Event></T>'
    expect(sumOf(eventsOf(one))).toBe(sumOf(eventsOf(other)))
  })

  it.each<[string, (event: StreamEvent) => readonly StreamEvent[]]>([
    ['a duplicate', event => [event, event]],
    ['a value', event => [{ ...event, key: 'b' }]],
    ['a move to another attribute', event => [{ ...event, key: '', ref: event.key }]],
    ['an lc attribute', event => [{ ...event, lc: { fence: '1' } }]],
    ['a foreign attribute', event => [{ ...event, foreign: [{ name: 'z', uri: '', local: 'z', value: '1' }] }]],
  ])('the sum depends on %s', (_, change) => {
    const event = newEvent({ id: '00', key: 'a' })
    expect(sumOf(change(event))).not.toBe(sumOf([event]))
  })

  it('the sum depends on the order of events', () => {
    const [a, b] = [newEvent({ id: '00' }), newEvent({ id: '01' })]
    expect(sumOf([a, b])).not.toBe(sumOf([b, a]))
  })
})
