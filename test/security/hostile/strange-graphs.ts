import { documentText, type EventText } from '../../support/stream-builder.ts'

/** A document whose events are linked in a way that leasectl never links them. */
export interface StrangeGraph {
  readonly what: string
  /** The finding of `doctor`. */
  readonly finding: string | undefined
  /** @param size the approximate number of events */
  readonly text: (size: number) => string
}

const root = (more: EventText = {}): EventText => ({ name: 'R', id: '00', status: 'inprocess', ...more })
const event = (id: string, more: EventText = {}): EventText => ({ name: 'E', id, status: 'init', ...more })
const many = (size: number, make: (at: number) => EventText) =>
  Array.from({ length: size - 1 }, (_, at) => make(at + 1))
const graph = (size: number, make: (at: number) => EventText, more: EventText = {}) =>
  documentText(root(more), ...many(size, make))

/** Names with a special meaning in a careless program. */
const WORDS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '-1', '1e3', 'NaN', 'undefined']

export const STRANGE_GRAPHS: readonly StrangeGraph[] = [
  {
    what: 'one great cycle',
    finding: 'cycle',
    text: size => graph(size, at => event(`${at}`, { next: `${at === size - 1 ? 1 : at + 1}` }), { next: '1' }),
  },
  {
    what: 'many small cycles',
    finding: 'cycle',
    text: size => graph(size, at => event(`${at}`, { next: `${at ^ 1 || 1}`, prev: `${at ^ 1 || 1}` })),
  },
  {
    what: 'a cycle through the root',
    finding: 'link-to-root',
    text: size => graph(size, at => event(`${at}`, { prev: '00', next: '00' })),
  },
  {
    what: 'links to themselves',
    finding: 'self-link',
    text: size => graph(size, at => event(`${at}`, { prev: `${at}`, next: `${at}|${at}` })),
  },
  {
    what: 'dangling links',
    finding: 'dangling-next',
    text: size => graph(size, at => event(`${at}`, { prev: `no${at}`, next: `none${at}|nothing${at}` })),
  },
  {
    what: 'one id for all',
    finding: 'duplicate-id',
    text: size => graph(size, () => event('01', { prev: '00', next: '01|00' })),
  },
  {
    what: 'each id twice',
    finding: 'duplicate-id',
    text: size => graph(size, at => event(`${at >> 1}`, { prev: '00' })),
  },
  {
    what: 'siblings by the thousand',
    finding: undefined,
    text: size => graph(size, at => event(`${at}`, { prev: '00' })),
  },
  {
    what: 'siblings in one list',
    finding: undefined,
    text: size =>
      graph(size, at => event(`${at}`), {
        next: many(size, at => event(`${at}`))
          .map(({ id }) => id)
          .join('|'),
      }),
  },
  {
    what: 'a chain of all',
    finding: undefined,
    text: size => graph(size, at => event(`${at}`, { prev: at === 1 ? '00' : `${at - 1}` })),
  },
  {
    what: 'a chain written from its end',
    finding: undefined,
    text: size => graph(size, at => event(`${size - at}`, { prev: at === size - 1 ? '00' : `${size - at - 1}` })),
  },
  {
    what: 'ids of many parts',
    finding: undefined,
    text: size => graph(size, at => event(`01${'.01'.repeat(at % 30)}.${at}`, { prev: '00' })),
  },
  {
    what: 'one join of all',
    finding: undefined,
    text: size =>
      graph(size, at => event(`${at}`, { prev: '00', next: 'end' })).replace(
        '</EventStream>',
        '<Event name="J" id="end" status="init" prev="00"/></EventStream>',
      ),
  },
  {
    what: 'everything to everything',
    finding: 'cycle',
    text: size => {
      const side = Math.floor(Math.sqrt(size)) * 2
      const all = Array.from({ length: side }, (_, at) => at + 1).join('|')
      return graph(side, at => event(`${at}`, { prev: '00', next: all }))
    },
  },
  {
    what: 'ids that are words of JavaScript',
    finding: undefined,
    text: size => graph(size, at => event(`${WORDS[at % WORDS.length]}${at < WORDS.length ? '' : at}`, { prev: '00' })),
  },
]
