import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../../../src/stream/document.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import { MAX_READ_BYTES, MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from '../../../../src/stream/limits.ts'
import { checkSize } from '../../../../src/stream/operations/transaction.ts'
import { bytesAbove, writeDocument, writtenBytes } from '../../../../src/stream/xml/write.ts'
import { aDocument } from '../xml/arbitraries.ts'

const ROOT = newEvent({ id: '00' })

/** A document of this number of bytes, in any of its parts. */
const PARTS: Readonly<Record<string, (text: string) => Partial<StreamDocument>>> = {
  prolog: text => ({ prolog: `<!--${text}-->` }),
  epilog: text => ({ epilog: `<!--${text}-->` }),
  tail: text => ({ tail: `<!--${text}-->` }),
  journal: text => ({ journal: `<lc:tx why="${text}"/>` }),
  'the life': text => ({ born: text }),
  'the time of the last write': text => ({ at: text }),
  'the name of a foreign attribute': text => ({ attributes: [{ name: text, uri: '', local: text, value: '' }] }),
  'a foreign attribute': text => ({ attributes: [{ name: 'a', uri: '', local: 'a', value: text }] }),
  'a free attribute of an event': text => ({ events: [{ ...ROOT, msg: text }] }),
  'an attribute of ours': text => ({ events: [{ ...ROOT, lc: { owner: text } }] }),
  'a foreign attribute of an event': text => ({
    events: [{ ...ROOT, foreign: [{ name: 'a', uri: '', local: 'a', value: text }] }],
  }),
  'the content of an event': text => ({ events: [{ ...ROOT, content: text }] }),
  'what stands before an event': text => ({ events: [{ ...ROOT, before: `<!--${text}-->` }] }),
}

function withPart(part: string, bytes: number): StreamDocument {
  const made = (text: string): StreamDocument => ({ ...EMPTY_DOCUMENT, events: [ROOT], ...PARTS[part]?.(text) })
  const rest = Buffer.byteLength(writeDocument(made('x')).text) - 1
  return made('x'.repeat(bytes - rest))
}

describe('a growing document', () => {
  it.each(Object.keys(PARTS))('is refused one byte beyond 8 MiB and not before: %s', part => {
    expect(checkSize(withPart(part, MAX_WRITTEN_BYTES), true)).toBeUndefined()
    expect(checkSize(withPart(part, MAX_WRITTEN_BYTES + 1), true)).toMatchObject({
      code: 'stream-full',
      event: '00',
      message: expect.stringContaining(
        'would have 8388609 bytes; at most 8388608 are written; complete, cancel or abort',
      ),
    })
  })

  it('is refused with 20 001 events and not before; a document that does not grow is accepted', () => {
    const document = (count: number) => ({ ...EMPTY_DOCUMENT, events: Array(count).fill(ROOT) })
    expect(checkSize(document(MAX_WRITTEN_EVENTS), true)).toBeUndefined()
    expect(checkSize(document(MAX_WRITTEN_EVENTS + 1), true)?.message).toContain(
      'would have 20001 events; at most 20000 are written',
    )
    expect(checkSize(document(MAX_WRITTEN_EVENTS + 1), false)).toBeUndefined()
  })
})

it('a document that does not grow is refused one byte beyond the limit of reading and not before', () => {
  expect(checkSize(withPart('prolog', MAX_READ_BYTES), false)).toBeUndefined()
  expect(checkSize(withPart('prolog', MAX_READ_BYTES + 1), false)?.message).toContain('33554433 bytes')
})

it('the name of the document element is counted in its start tag and its end tag', () => {
  const named = (length: number) => ({ ...EMPTY_DOCUMENT, events: [ROOT], element: 'x'.repeat(length) })
  expect(checkSize(named(MAX_WRITTEN_BYTES / 2 - 200), true)).toBeUndefined()
  expect(checkSize(named(MAX_WRITTEN_BYTES / 2), true)).toMatchObject({ code: 'stream-full' })
})

it('a foreign prefix is counted at each of our attributes', () => {
  const prefix = 'x'.repeat(1_000)
  const events = Array.from({ length: 9_000 }, (_, at) => newEvent({ id: `${at}.00` }, { owner: 'w' }))
  expect(checkSize({ ...EMPTY_DOCUMENT, events }, true)).toBeUndefined()
  expect(checkSize({ ...EMPTY_DOCUMENT, events, prefix }, true)).toMatchObject({ code: 'stream-full' })
})

it('the bytes of any document are counted as they are written, and compared exactly with a limit', () => {
  fc.assert(
    fc.property(aDocument(), fc.string({ unit: 'binary', maxLength: 300 }), ({ document }, text) => {
      const long: StreamDocument = {
        ...document,
        prolog: `<!--${text}-->`,
        journal: `${document.journal}\n    <a b="${text}"/>`,
      }
      for (const each of [document, long]) {
        const bytes = writtenBytes(each)
        if (each === document) expect(bytes).toBe(Buffer.byteLength(writeDocument(each).text))
        expect(bytesAbove(each, bytes)).toBeUndefined()
        expect(bytesAbove(each, bytes - 1)).toBe(bytes)
      }
    }),
    { numRuns: 300 },
  )
})
