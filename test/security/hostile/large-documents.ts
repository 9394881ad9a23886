import { documentText, type EventText } from '../../support/stream-builder.ts'
import { hostileDocument } from './hostile-texts.ts'
import { STRANGE_GRAPHS, type StrangeGraph } from './strange-graphs.ts'

/** A document that makes a careless program use more memory, or write more output, than its own size. */
export type LargeDocument = Pick<StrangeGraph, 'what' | 'text'>

const FORK_IDS = (size: number) => Array.from({ length: size }, (_, at) => `${at + 1}`)
const event = (id: string, more: EventText = {}): EventText => ({ name: 'E', id, status: 'init', ...more })
const open = (more: EventText = {}): EventText => ({ name: 'R', id: '00', status: 'inprocess', ...more })
const AT = '2026-03-01T11:00:00.000Z'

export const LARGE_DOCUMENTS: readonly LargeDocument[] = [
  ...STRANGE_GRAPHS,
  {
    what: 'joins of one fork by the thousand',
    text: size =>
      documentText(
        open({ next: FORK_IDS(size).join('|') }),
        ...FORK_IDS(size).map(id =>
          event(id, { status: 'inprocess', prev: '00', 'lc:wait': 'yes', 'lc:join': 'wait' }),
        ),
      ),
  },
  {
    what: 'joins that the journal declares',
    text: size =>
      withJournal(
        documentText(open(), ...FORK_IDS(size).map(id => event(id, { prev: '00' }))),
        Array.from({ length: Math.floor(size / 100) }, (_, at) =>
          entry(at + 1, 'advance', changesOf(at * 100, Math.min(size, at * 100 + 100))),
        ),
      ),
  },
  {
    what: 'a ladder: each event has a branch beside the next one',
    text: size =>
      documentText(
        open(),
        ...FORK_IDS(Math.floor(size / 2)).flatMap(id => [
          event(`a${id}`, { prev: id === '1' ? '00' : `a${Number(id) - 1}` }),
          event(`b${id}`, { prev: id === '1' ? '00' : `a${Number(id) - 1}` }),
        ]),
      ),
  },
  {
    what: 'a ladder of what has failed',
    text: size =>
      documentText(
        open({ status: 'aborted', 'lc:failed': FORK_IDS(size).join('|') }),
        ...FORK_IDS(Math.floor(size / 2)).flatMap(id => [
          event(`a${id}`, { status: 'aborted', msg: 'x', prev: id === '1' ? '00' : `a${Number(id) - 1}` }),
          event(`b${id}`, { status: 'canceled', msg: 'y', prev: id === '1' ? '00' : `a${Number(id) - 1}` }),
        ]),
      ),
  },
  {
    what: 'ids that go deep',
    text: size => {
      const side = Math.floor(Math.sqrt(size * 10))
      return documentText(
        open(),
        ...Array.from({ length: side }, (_, at) => event(`${'01.'.repeat(at + 1)}00`, { prev: '00' })),
      )
    },
  },
  {
    what: 'a long journal of one event',
    text: size =>
      withJournal(
        documentText(open(), event('01.00', { prev: '00' })),
        Array.from({ length: size }, (_, at) =>
          entry(
            at + 1,
            at % 2 === 0 ? 'start' : 'release',
            `<lc:change event="01.00" from="init" to="${at % 2 === 0 ? 'inprocess' : 'init'}" how="target" owner="w${at}" attempt="1"/>`,
          ),
        ),
      ),
  },
  {
    what: 'a journal of retries of all',
    text: size => {
      const side = Math.floor(Math.sqrt(size))
      return withJournal(
        documentText(open(), ...FORK_IDS(side).map(id => event(id, { prev: '00', 'lc:attempt': `${side}` }))),
        Array.from({ length: side }, (_, at) =>
          entry(
            at + 1,
            at % 2 === 0 ? 'retry' : 'cancel',
            FORK_IDS(side)
              .map(
                id =>
                  `<lc:change event="${id}" from="${at % 2 === 0 ? 'canceled' : 'init'}" to="${at % 2 === 0 ? 'init' : 'canceled'}" how="target"/>`,
              )
              .join(''),
          ),
        ),
      )
    },
  },
  {
    what: 'one text as long as all others together',
    text: size => documentText(open({ msg: 'x'.repeat(size * 80) }), event('01', { prev: '00' })),
  },
  {
    what: 'a text of control characters',
    text: size => documentText(open({ msg: '\u0085\u202e'.repeat(size * 20), key: '\u009b'.repeat(size * 10) })),
  },
  {
    what: 'long texts everywhere',
    text: size =>
      documentText(
        open(),
        ...FORK_IDS(Math.floor(size / 50)).map(id =>
          event(id, {
            prev: '00',
            msg: `${id} ${'wide 言葉 '.repeat(300)}`,
            name: 'N'.repeat(500),
            topic: 't"<&>'.repeat(100),
          }),
        ),
      ),
  },
  {
    what: 'names that are all alike and long',
    text: size =>
      documentText(
        open(),
        ...FORK_IDS(Math.floor(size / 10)).map(id =>
          event(id, { prev: '00', name: 'L'.repeat(700), 'lc:owner': 'o'.repeat(300) }),
        ),
      ),
  },
  { what: 'every attribute hostile', text: () => hostileDocument() },
]

function changesOf(from: number, to: number): string {
  return Array.from(
    { length: to - from },
    (_, at) =>
      `<lc:change event="${from + at + 1}" from="" to="${at === to - from - 1 ? 'inprocess' : 'init'}" how="add"/>`,
  ).join('')
}

function entry(version: number, op: string, changes: string): string {
  return `<lc:tx v="${version}" at="${AT}" by="a@b" op="${op}" on="00" cmd="c${version}" h="0123456789abcdef">${changes}</lc:tx>`
}

function withJournal(text: string, entries: readonly string[]): string {
  const end = '</EventStream>'
  return text
    .replace('<EventStream ', `<EventStream lc:v="${entries.length}" `)
    .replace(end, `<lc:journal>${entries.join('')}</lc:journal>${end}`)
}
