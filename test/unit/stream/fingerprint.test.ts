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
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  let digests = ''
  for (const event of xelementSelect(xelementLoad(text))) {
    const lines = event.attributes
      .filter(({ uri, value }) => value !== '' && uri !== 'http://www.w3.org/2000/xmlns/')
      .map(({ name, uri, value }) => `{${uri}}${name.replace(/^.*:/, '')}=${JSON.stringify(value)}\n`)
    digests += sha256(`${lines.sort().join('')}\n`)
  }
  return `2:${sha256(digests)}`
}

describe('lc:sum, stream-format 5', () => {
  it.each([
    ['sum-golden.xml', '2:16308fc4c7b3478591079b4bc7b5ff01148940754cd431378bd6ccb88d263a28'],
    ['2013-us.xml', '2:f9e76473494a5041e26e1eede03ee5b49339d397ecab89b0f2f18020439fce4c'],
    ['foreign.xml', '2:6ba6cc02c4f37111a1ae19bf18f4e9de61bf2c3d2479a9e8923d86b89a2a988d'],
  ])('the sum of %s is the one that fixtures/sum-golden.py computed', (name, sum) => {
    const text = fixture(name)
    expect(sumOf(eventsOf(text))).toBe(sum)
    expect(naiveSum(text)).toBe(sum)
  })

  it('the sums of no event and of an event without attributes are those of sha256sum', () => {
    expect(sumOf([])).toBe('2:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(sumOf([newEvent({ id: '00' })])).toBe('2:e925b28566c3cc2dbdedada0663364af878b9f081bcf6ec905a373aadbc0f46e')
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
