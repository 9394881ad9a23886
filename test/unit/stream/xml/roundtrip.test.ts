import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StreamDocument } from '../../../../src/stream/document.ts'
import { decodeDocument } from '../../../../src/stream/xml/decode.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { LegacyStream, type SaveOptions } from '../../../support/xelement.ts'
import { aDocument } from './arbitraries.ts'

const attributesOnly = (document: StreamDocument) =>
  document.events.map(event => ({ ...event, before: '', content: '' }))

describe('a round trip keeps everything (stream-format 7.3)', () => {
  it('a written document reads back as the same model and is written again as the same bytes', () => {
    fc.assert(
      fc.property(aDocument(), ({ document, text }) => {
        const again = readDocument(text)
        expect(again).toEqual(document)
        expect(writeDocument(again).text).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  it.each<SaveOptions>([{}, { bom: false, newline: '\n' }, { indent: false }])(
    'a document saved by XElement with %o keeps events, journal entries and sum',
    options => {
      fc.assert(
        fc.property(aDocument(), ({ document, text }) => {
          const again = readDocument(decodeDocument(new LegacyStream(text).save(options)))
          expect(attributesOnly(again)).toEqual(attributesOnly(document))
          expect(again.journal.replace(/\r?\n */g, '')).toBe(document.journal.replaceAll('\n', ''))
          expect(again).toMatchObject({ sum: document.sum, version: document.version, prefix: document.prefix })
          expect(writeDocument(again).sum).toBe(document.sum)
        }),
      )
    },
  )

  it('reading, writing and reading a saved document gives the same model twice', () => {
    fc.assert(
      fc.property(aDocument(), fc.boolean(), fc.boolean(), ({ text }, indent, rebuildEvents) => {
        const first = readDocument(decodeDocument(new LegacyStream(text).save({ indent, rebuildEvents })))
        const written = writeDocument(first)
        expect(readDocument(written.text)).toEqual({ ...first, sum: written.sum })
      }),
    )
  })
})
