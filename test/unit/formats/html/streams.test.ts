import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { streamsPage } from '../../../../src/formats/html/streams.ts'
import { shownStream } from '../../../../src/formats/stream/view.ts'
import type { StreamView } from '../../../../src/ops/read-stream.ts'
import { dataOf } from '../../../../src/stream/data.ts'
import { Play, spec } from '../../../support/stream-builder.ts'
import { aWholeStory, viewOfEvents, viewOfPlay } from '../views.ts'
import { parsePage } from './parsed-page.ts'

function pageOf(views: readonly StreamView[], unread: readonly string[] = []): string {
  const streams = views.map(view => ({ shown: shownStream(view), transactions: () => view.transactions() }))
  const origin = { store: 'memory:', nowMs: views[0]?.nowMs ?? 0 }
  return streamsPage(streams, unread, origin, { time: 'utc' })
}

const HOSTILE = [
  '</pre><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-->]]><style>*{display:none}</style>",
  '&lt;b&gt; &#60; javascript:alert(1) url(http://x)',
  '\u202eevil\u2066',
]

const ELEMENTS = new Set(
  (
    'html head meta title style body header main article section footer nav h1 h2 h3 p span div dl dt dd ol ul li a ' +
    'pre table thead tbody tr th td svg line rect text code'
  ).split(' '),
)

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc
    .tuple(fc.constantFrom(...HOSTILE), fc.string())
    .map(([a, b]) => `${a}${b.replace(/[\u0000-\u001f\ufffe\uffff]|\p{Cs}/gu, '')}`),
)

describe('a page of a stream', () => {
  it('has the sign and words of the tree for a stream that completed with errors', () => {
    const play = new Play().after({ op: 'init', root: spec('Order'), forks: [spec('A'), spec('B')] })
    play.do({ op: 'fail', event: '01.00', msg: 'no' })
    play.do({ op: 'complete', event: '02.00' })
    const view = viewOfPlay(play)
    expect(view.stream.root?.lc.outcome).toBe('errors')
    expect(pageOf([view])).toContain('<span class="status warn">± with errors</span>')
    expect(pageOf([view, view])).toContain('± with errors</')
  })

  it('has the state, the failures in full, the tree, the timeline, the attempts and the journal', () => {
    const { text, elements, values } = parsePage(pageOf([viewOfPlay(aWholeStory())]))
    for (const heading of ['State', '1 failure', 'Events', 'Timeline', 'Attempts', 'Journal'])
      expect(text).toContain(heading)
    expect(text).toMatch(/⊘ canceled[\s\S]*02\.00[\s\S]*not wanted/)
    expect(text).toContain('├─  level 2: 01.00 Search')
    expect(elements).toContain('rect')
    expect(values('aria-label')).toContain('ready to be claimed 5s from 12:00:00Z, canceled 12:00:05Z')
    expect(elements.filter(name => name === 'h1')).toHaveLength(1)
  })

  it('has inputs and results of the document whole, and of others the size and the command that prints them', () => {
    const play = new Play().after({ op: 'init', root: spec('Start'), forks: [spec('A'), spec('B')] })
    const long = `{"rows":"${'r'.repeat(3_000)}"}`
    play.after({ op: 'complete', event: '01.00', result: dataOf(Buffer.from(long)) })
    play.after({ op: 'complete', event: '02.00', result: dataOf(Buffer.from('x'.repeat(70_000))) })
    const { text } = parsePage(pageOf([viewOfPlay(play)]))
    expect(text).toContain(long)
    expect(text).toMatch(
      /kept beside the stream: 70.?000 bytes, SHA-256 [0-9a-f]{12}…\. leasectl event data \S+ 02\.00 --result > FILE saves it/,
    )
  })

  it('allows its own style and nothing else', () => {
    const page = pageOf([viewOfPlay(aWholeStory())])
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
    )
    expect(page).not.toMatch(/https?:|url\(|@import/)
  })

  it('has a list of its streams, and says which could not be read', () => {
    const views = ['a/1', 'b/2'].map(name => viewOfPlay(aWholeStory(), name))
    const { text, values } = parsePage(pageOf(views, ['c/3 has no events <b>']))
    expect(values('href')).toEqual(['#stream-1', '#stream-2'])
    expect(text).toContain('cannot be read: c/3 has no events <b>')
    expect(new Set(values('id')).size).toBe(values('id').length)
  })

  it('cuts the tree and the timeline of a long stream and says so, but no failure', () => {
    const steps = Array.from({ length: 8_000 }, (_, at) => ({
      id: `${at + 1}.00`,
      name: 'Step',
      prev: '00',
      ...(at < 500 ? { status: 'aborted', msg: `reason ${at}.` } : { status: 'completed' }),
      created: '2024-05-01T12:00:00Z',
      timestamp: '2024-05-01T12:00:05Z',
    }))
    const root = { id: '00', name: 'Start', status: 'inprocess', created: '2024-05-01T12:00:00Z' }
    const page = pageOf([viewOfEvents([root, ...steps], Date.parse('2024-05-01T12:01:00Z'))])
    const { text } = parsePage(page)
    for (let at = 0; at < 500; at++) expect(text).toContain(`reason ${at}.`)
    expect(page.length).toBeLessThan(1_000_000)
    expect(text).toContain('400 of 8001 events are shown, failed and open ones first.')
  })

  it('shows hostile texts as texts: they add no element, no attribute, no link', () => {
    const plain = parsePage(pageOf([viewOfPlay(storyWith('plain'))]))
    fc.assert(
      fc.property(hostileText, hostile => {
        const page = parsePage(pageOf([viewOfPlay(storyWith(hostile))]))
        expect(page.elements).toEqual(plain.elements)
        expect([...page.attributes].sort()).toEqual([...plain.attributes].sort())
        for (const name of page.elements) expect(ELEMENTS).toContain(name)
        expect([...page.attributes].filter(name => /@(on|src|href|style)/.test(name))).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('shows a hostile message to the letter', () => {
    const { text } = parsePage(pageOf([viewOfPlay(storyWith(HOSTILE[0] ?? ''))]))
    expect(text).toContain(HOSTILE[0])
  })
})

/** A short story whose texts are all this one. */
function storyWith(text: string): Play {
  const play = Play.joined(text, text, 'B')
  play.wait(1_000).after({ op: 'start', event: '01.00', owner: text })
  play.wait(1_000).after({ op: 'fail', event: '01.00', owner: text, msg: text })
  play.wait(1_000).do({ op: 'cancel', event: '02.00' }, { by: text, why: text })
  return play
}
