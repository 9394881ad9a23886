import { SaxesParser } from 'saxes'
import { expect, test } from 'vitest'
import { placeOf } from '../../../src/stream/xml/errors.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { pacesOf, processorS, type Race, type Runner, slowestOf, tooSlow } from './pace.ts'
import { ourReader } from './xml-read-either.ts'
import { SHAPES } from './xml-shapes.ts'

const row = trustRow('xml')

/** The promised time for a million characters, and the allowance for a busy machine. */
const MAX_MS = 200
const ALLOWANCE = 10

const FULL_SIZE = sized(1 << 20, 4 << 20)
const MEGABYTES = FULL_SIZE / 1e6
/** In CI the time at full size is derived from its growth between two smaller ones. */
const RACE: Race = {
  rounds: sized([[1 << 15, 1 << 17], [FULL_SIZE]], [[FULL_SIZE]]),
  fullSize: FULL_SIZE,
  mayTakeS: (MAX_MS * ALLOWANCE * MEGABYTES) / 1_000,
}

/** At night the better of two, because it decides at once. */
const TIMES = sized(1, 2)

type Read = (bytes: Buffer) => void

/** A reader on texts of one shape. */
function runner(what: string, read: Read = ourReader): Runner {
  return {
    what,
    take: size => {
      const bytes = Buffer.from(SHAPES[what]?.(size) ?? '')
      const took = Array.from({ length: TIMES }, () => {
        const start = process.cpuUsage()
        read(bytes)
        return processorS(start)
      })
      return Math.min(...took)
    },
  }
}

const msPerMegabyte = (s: number) => Math.round((s * 1_000) / MEGABYTES)

/** The parser below our reader, without any use of its events. */
function parserAlone(bytes: Buffer): void {
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true })
  parser.on('opentag', () => {})
  // Some shapes never end the document: its verdict on them does not matter.
  parser.on('error', () => {})
  parser.write(bytes.toString()).close()
}

test('texts of any shape are read or refused in time', {
  timeout: sized(120_000, 600_000),
}, async () => {
  const runners = Object.keys(SHAPES).map(what => runner(what))
  // the first ones would be slow because of compiling
  for (const { take } of runners) take(1 << 15)
  const paces = await pacesOf(runners, RACE)
  expect(tooSlow(paces, RACE)).toEqual([])
  const { what, s } = slowestOf(paces)
  const [alone] = await pacesOf([runner(what, parserAlone)], RACE)
  const which = `${what}; the parser alone: ${msPerMegabyte(alone?.s ?? 0)}`
  const limit = `at most ${sized(MAX_MS * ALLOWANCE, MAX_MS)}`
  row.figure('ms a MB', `${msPerMegabyte(s)} (${which}${sized('; from how smaller ones grow', '')})`, limit)
  row.injected('megabytes of one shape', paces.length)
})

test('the test detects a reader that scans from the start for each name', async () => {
  const lookingBack: Read = bytes => {
    ourReader(bytes)
    const text = bytes.toString()
    for (const { index } of text.matchAll(/[<\s]\w/g)) placeOf(text, index)
  }
  const slowOne = runner('events', lookingBack)
  // compiling would make the smaller size the slower one
  await slowOne.take(1 << 14)
  // smaller, because at full size it would take minutes
  const sizes = [1 << 14, 1 << 16]
  const race = { ...RACE, rounds: [sizes, sizes] }
  const slow = tooSlow(await pacesOf([slowOne], race), race)
  expect(slow.map(({ what }) => what)).toEqual(['events'])
  row.control('a reader of quadratic time', slow.length === 1)
})
