import { spawnSync } from 'node:child_process'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../../../src/stream/xml/read.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { BAD_DOCUMENTS } from './xml-corpus.ts'
import { GOOD_DOCUMENTS, type GoodDocument } from './xml-documents.ts'
import { mutant } from './xml-mutations.ts'
import { ourReader, type Reader } from './xml-read-either.ts'
import { openReference } from './xml-reference.ts'

const row = trustRow('xml')
const FILE = 'test/security/hostile/xml.test.ts'
const SEED = trustSeed(1)
const MUTANTS = sized(2_000, 300_000)
const reference = openReference()
if (reference.name !== 'xmllint') row.skipped('xmllint', 'it is not installed; saxes judged in its place')

const DOCUMENTS = GOOD_DOCUMENTS as readonly [GoodDocument, ...GoodDocument[]]

/** The part of the corpus that a reader should have refused, by defect. */
function takenOf(read: Reader, corpus = BAD_DOCUMENTS): string[] {
  return corpus.filter(({ bytes }) => read(bytes) === undefined).map(({ what }) => what)
}

/** Positions at which a truncated document is accepted. */
function takenCuts(read: Reader, documents: readonly GoodDocument[] = DOCUMENTS): string[] {
  return documents.flatMap(({ what, bytes }) => {
    const end = endOfElement(bytes)
    const cuts = Array.from({ length: end }, (_, at) => at)
    return cuts.filter(cut => read(bytes.subarray(0, cut)) === undefined).map(cut => `${what}, cut at ${cut}`)
  })
}

/** The byte behind which the document element has ended. */
function endOfElement(bytes: Buffer): number {
  const wide = bytes[0] === 0xff ? 'utf16le' : undefined
  if (bytes[0] === 0xfe) return endOfElement(Buffer.from(bytes).swap16())
  const text = bytes.toString(wide)
  return Buffer.byteLength(text.slice(0, text.indexOf('>', text.lastIndexOf('</'))), wide)
}

interface Compared {
  /** Seeds of documents that the reader accepts although the reference refuses them. */
  readonly taken: readonly number[]
  /** The reasons why the reader refuses documents that the reference accepts. */
  readonly stricter: readonly string[]
  readonly refused: number
}

function compare(read: Reader, count: number): Compared {
  const taken: number[] = []
  const stricter: string[] = []
  let refused = 0
  for (let first = SEED; first < SEED + count; first += 5_000) {
    const seeds = Array.from({ length: Math.min(5_000, SEED + count - first) }, (_, at) => first + at)
    const mutants = seeds.map(seed => mutant(DOCUMENTS, seed))
    const rejected = reference.rejects(mutants)
    mutants.forEach((bytes, at) => {
      const why = read(bytes)
      if (rejected[at]) refused += 1
      if (rejected[at] && why === undefined) taken.push(seeds[at] ?? 0)
      if (!rejected[at] && why !== undefined) stricter.push(`${seeds[at]}: ${why}`)
    })
  }
  return { taken, stricter, refused }
}

/** Documents that we refuse on purpose and libxml2 accepts: namespaces, encodings, DTDs and documents without events. */
const ON_PURPOSE = [
  /^unbound namespace prefix|^malformed name|^duplicate attribute: \{|prefix is bound to nothing|prefix must be bound/,
  // With namespaces an instruction's name must not contain a colon: https://www.w3.org/TR/xml-names/#Conformance
  /^disallowed character in processing instruction name$/,
  /^the bytes are not valid UTF-16|^the XML declaration names the encoding|^a second byte order mark/,
  // libxml2 stops reading at a zero after the end.
  /^the character U\+0000 is not allowed/,
  // It only warns of these: https://www.w3.org/TR/xml/#NT-VersionNum, #NT-SDDecl, https://www.w3.org/TR/xml-names/#xmlReserved
  /^the XML version is none of 1\.x$|^whitespace required$|^tags may not have "xmlns" as prefix$/,
  /^a document type declaration/,
  /^an Event has no id$|^the first Event is the root|^elements are nested deeper/,
  /^(an element|an Event|the document element) has more than|^an Event stands in the journal/,
]

describe('foreign XML', () => {
  test('from the corpus is refused, and each good document is read by both parsers', () => {
    expect(takenOf(ourReader)).toEqual([])
    expect(DOCUMENTS.map(({ bytes }) => ourReader(bytes))).toEqual(DOCUMENTS.map(() => undefined))
    expect(reference.rejects(DOCUMENTS.map(({ bytes }) => bytes))).toEqual(DOCUMENTS.map(() => false))
    row.injected('documents of the corpus', BAD_DOCUMENTS.length)
  })

  test('that is cut off at any byte is refused', () => {
    expect(takenCuts(ourReader)).toEqual([])
    row.injected(
      'cuts',
      DOCUMENTS.reduce((sum, { bytes }) => sum + endOfElement(bytes), 0),
    )
  })

  test('is judged by the reference in many files as in each alone', ctx => {
    if (reference.name !== 'xmllint') return ctx.skip('xmllint is not installed')
    const mutants = Array.from({ length: 60 }, (_, at) => mutant(DOCUMENTS, SEED + at))
    const alone = mutants.map(input => spawnSync('xmllint', ['--noout', '--nonet', '-'], { input }).status !== 0)
    expect(reference.rejects(mutants)).toEqual(alone)
    expect(new Set(alone).size).toBe(2)
  })

  test('that the reference refuses is never accepted', { timeout: sized(60_000, 3_600_000) }, () => {
    const { taken, stricter, refused } = compare(ourReader, MUTANTS)
    expect(taken, repeatWith(FILE, taken[0] ?? SEED)).toEqual([])
    const unexpected = stricter.filter(why => !ON_PURPOSE.some(known => known.test(why.replace(/^\d+: /, ''))))
    expect(unexpected, 'legitimate documents may be refused').toEqual([])
    expect(refused).toBeGreaterThan(MUTANTS / 2)
    row.injected(`mutants that ${reference.name} refuses`, refused)
    row.injected('stricter on purpose', stricter.length)
    row.figure('documents', BAD_DOCUMENTS.length + MUTANTS)
    row.figure('accepted that a parser rejects', taken.length, '0')
  })
})

describe('the test detects a missing protection:', () => {
  /** Documents that a careless reader accepts quickly. */
  const small = BAD_DOCUMENTS.filter(({ bytes }) => bytes.length < 10_000)
  const careless = (read: (bytes: Uint8Array) => void): Reader => {
    return bytes => {
      try {
        read(bytes)
        return undefined
      } catch {
        return 'refused'
      }
    }
  }

  test('invalid UTF-8 bytes replaced instead of refused', () => {
    const read = careless(bytes => readDocument(new TextDecoder().decode(bytes)))
    expect(takenOf(read, small)).toContain('an overlong slash')
    const { taken } = compare(read, 500)
    expect(taken).not.toEqual([])
    row.control('a lenient decoder', taken.length > 0)
  })

  test('a parser that continues after errors', () => {
    const read = careless(bytes => {
      const parser = new SaxesParser()
      parser.on('error', () => {})
      parser.write(new TextDecoder().decode(bytes)).close()
    })
    expect(takenOf(read, small)).toEqual(expect.arrayContaining(['a DTD', 'billion laughs', 'too deep']))
    expect(takenCuts(read, DOCUMENTS.slice(0, 1))).not.toEqual([])
    const { taken } = compare(read, 100)
    expect(taken).not.toEqual([])
    row.control('a lenient parser', taken.length > 0)
  })
})
