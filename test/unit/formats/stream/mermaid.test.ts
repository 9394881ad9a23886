import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mermaidOf, mermaidOfAll } from '../../../../src/formats/stream/mermaid.ts'
import type { ShownStream } from '../../../../src/formats/stream/view.ts'
import { timeReaderFor } from '../../../../src/stream/time/dates.ts'
import { aStrangeDocument } from '../../../support/arbitraries.ts'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

function shownOf(play: Play, name = 'orders/1'): ShownStream {
  const { document, stream, nowMs } = play
  const { read } = timeReaderFor(document, { nowMs })
  return {
    name,
    version: document.version,
    lease: { state: 'available' },
    stream,
    time: read,
    nowMs,
    transactions: () => play.journal,
  }
}

const withoutClasses = (text: string) => text.split('\n').filter(line => !line.includes('classDef '))

describe('a stream as a Mermaid flowchart', () => {
  it('has a node for each event, an arrow to each successor, and a dotted one to a waiting join', () => {
    const play = Play.joined('Done', 'Search').after(
      { op: 'start', event: '01.00', owner: 'worker-7' },
      { op: 'advance', event: '01.00', owner: 'worker-7', next: spec('Found') },
      { op: 'start', event: '01.01', owner: 'worker-7' },
    )
    expect(withoutClasses(mermaidOf(shownOf(play)))).toEqual([
      'flowchart TD',
      '  %% orders/1 v4',
      '  e0["00 Start<br/>#9654; inprocess"]:::inprocess',
      '  e1["01.00 Search<br/>#9654; inprocess"]:::inprocess',
      '  e2["01 Done<br/>#9719; waiting"]:::waiting',
      '  e3["01.01 Found<br/>#9654; inprocess, worker-7"]:::inprocess',
      '  e0 --> e1',
      '  e0 -.-> e2',
      '  e1 --> e3',
      '',
    ])
  })

  it('shows retries and the events they replaced', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: spec('B') })
    play.after({ op: 'fail', event: '01.00' }, { op: 'retry', event: '01.00' })
    const text = mermaidOf(shownOf(play))
    expect(text).toContain('["01.00 A<br/>#9675; init #35;2"]:::init')
    expect(text).toContain('["01.01 B<br/>#8856; canceled, replaced"]:::replaced')
  })

  it('shows missing successors and foreign statuses', () => {
    const play = new Play(documentText({ id: '00', status: 'paused', next: '77' }))
    expect(withoutClasses(mermaidOf(shownOf(play))).slice(2, -1)).toEqual([
      '  e0["00<br/>#63; paused"]:::unknown',
      '  e0m0["77<br/>#63; missing"]:::unknown',
      '  e0 --> e0m0',
    ])
  })

  it('is a frame for each of several streams in one chart', () => {
    const streams = [shownOf(Play.started(), 'a'), shownOf(Play.started(), 'b"]')]
    expect(withoutClasses(mermaidOfAll(streams))).toEqual([
      'flowchart TD',
      '  subgraph s0["a v1"]',
      '    s0e0["00 Start<br/>#9654; inprocess"]:::inprocess',
      '  end',
      '  subgraph s1["b#34;#93; v1"]',
      '    s1e0["00 Start<br/>#9654; inprocess"]:::inprocess',
      '  end',
      '',
    ])
    expect(mermaidOfAll(streams.slice(0, 1))).toBe(mermaidOf(shownOf(Play.started(), 'a')))
  })

  it('defines every class that a node has', () => {
    fc.assert(
      fc.property(aStrangeDocument(), events => {
        const text = mermaidOf(shownOf(new Play(documentText(...events))))
        const defined = new Set([...text.matchAll(/classDef (\w+)/g)].map(([, name]) => name))
        for (const [, name] of text.matchAll(/:::(\w+)$/gm)) expect(defined).toContain(name)
      }),
    )
  })
})

describe('foreign text cannot break out of its label', () => {
  const LINE =
    /^ *(e\d+(m\d+)?\["([\p{L}\p{M}\p{Nd} ._/,-]|#\d+;|<br\/>)*"\]:::\w+|e\d+ (-->|-\.->) e\d+(m\d+)?|%% ([\p{L}\p{M}\p{Nd} ._/,-]|#\d+;)*|classDef \w+ [\w:#, -]+|flowchart TD|)$/u

  it('whatever names, ids, owners and statuses contain', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'"]`#;<>%{}()|\n\u202e\u001b&:-é日'), maxLength: 12 }),
      fc.constantFrom(
        '"]:::x',
        '%%{init: {}}%%',
        '<script>',
        '#quot;',
        '`x`',
        'end',
        '--> e0',
        'click e0 "javascript:"',
      ),
    )
    const { document } = Play.started('A')
    const [root, event] = document.events
    if (root === undefined || event === undefined) throw new Error('a stream of two events')
    fc.assert(
      fc.property(text, text, text, text, (id, name, owner, status) => {
        const play = new Play()
        const hostile = { ...event, id: id === '' ? 'x' : id, name, status, lc: { owner } }
        play.document = { ...document, events: [{ ...root, next: `${hostile.id}|${name}` }, hostile] }
        const lines = mermaidOf(shownOf(play, name)).split('\n')
        expect(lines.filter(line => !LINE.test(line))).toEqual([])
      }),
    )
  })

  it('while letters of all scripts are unchanged', () => {
    const play = new Play().after({ op: 'init', root: spec('Größe 日本 हिन्दी') })
    expect(mermaidOf(shownOf(play))).toContain('["00 Größe 日本 हिन्दी<br/>')
  })

  it('nor can the text that Mermaid itself puts in place of entity codes', () => {
    const play = new Play().after({ op: 'init', root: spec('ﬂ°°34¶ß') })
    expect(mermaidOf(shownOf(play))).toContain('["00 #64258;#176;#176;34#182;ß<br/>')
  })
})
