import { attemptOf, isFinal, isGated, isSuperseded, STATUSES, type StreamEvent } from '../../stream/event.ts'
import { linkEvents } from '../../stream/event-stream.ts'
import { visibleText } from '../../util/visible-text.ts'
import { styleOf } from '../terminal/style.ts'
import { type ShownStream, statusWord } from './view.ts'

/**
 * A stream as a Mermaid flowchart: each event a node with its status as class, an arrow to each successor, dotted to a
 * waiting join. Deterministic for one stream. Mermaid draws 500 arrows unless `maxEdges` is raised.
 */
export function mermaidOf(shown: ShownStream): string {
  return [...HEAD, comment(shown), ...graphOf(shown, 'e'), ...CLASSES, ''].join('\n')
}

/** Several streams in one flowchart, each in its own subgraph. */
export function mermaidOfAll(streams: readonly ShownStream[]): string {
  const [only, ...others] = streams
  if (only !== undefined && others.length === 0) return mermaidOf(only)
  const frames = streams.flatMap((shown, at) => [
    `  subgraph s${at}["${label(shown.name)} v${shown.version}"]`,
    ...graphOf(shown, `s${at}e`).map(line => `  ${line}`),
    '  end',
  ])
  return [...HEAD, ...frames, ...CLASSES, ''].join('\n')
}

const HEAD = ['flowchart TD']

/** One class per status, and those for waiting, replaced and unknown. No semicolons: Mermaid splits colours there. */
const CLASSES = [
  '  classDef init fill:#ffffff,stroke:#888888,color:#000000',
  '  classDef inprocess fill:#d7f0fa,stroke:#0277bd,color:#000000',
  '  classDef waiting fill:#f2f2f2,stroke:#888888,color:#000000,stroke-dasharray:4 3',
  '  classDef completed fill:#dff5dd,stroke:#2e7d32,color:#000000',
  '  classDef aborted fill:#fbdcdc,stroke:#c62828,color:#000000',
  '  classDef canceled fill:#fdf0d0,stroke:#b26a00,color:#000000',
  '  classDef replaced fill:#f7f7f7,stroke:#bbbbbb,color:#777777,stroke-dasharray:2 2',
  '  classDef unknown fill:#fdf0d0,stroke:#b26a00,color:#000000,stroke-dasharray:2 2',
]

function comment({ name, version }: ShownStream): string {
  return `  %% ${label(name)} v${version}`
}

function graphOf({ stream }: ShownStream, prefix: string): string[] {
  const { successors, missing } = linkEvents(stream.events)
  const nodes = stream.events.map((event, at) => `  ${prefix}${at}["${nodeLabel(event)}"]:::${classOf(event)}`)
  const edges = successors.flatMap((targets, at) =>
    targets.map(target => {
      const event = stream.at(target)
      const arrow = event !== undefined && isGated(event) ? '-.->' : '-->'
      return `  ${prefix}${at} ${arrow} ${prefix}${target}`
    }),
  )
  const absent = [...missing].flatMap(([at, ids]) =>
    ids.flatMap((id, which) => {
      const node = `${prefix}${at}m${which}`
      return [`  ${node}["${label(id)}<br/>#63; missing"]:::unknown`, `  ${prefix}${at} --> ${node}`]
    }),
  )
  return [...nodes, ...edges, ...absent]
}

function nodeLabel(event: StreamEvent): string {
  const attempt = attemptOf(event)
  const word = isGated(event) ? 'waiting' : event.status
  const details = [
    `${styleOf(word).glyph} ${statusWord(word)}${attempt > 1 ? ` #${attempt}` : ''}`,
    isFinal(event) || event.lc.owner === undefined ? '' : visibleText(event.lc.owner),
    isSuperseded(event) ? 'replaced' : '',
  ].filter(detail => detail !== '')
  return `${label(`${event.id} ${event.name}`)}<br/>${label(details.join(', '))}`
}

function classOf(event: StreamEvent): string {
  if (isSuperseded(event)) return 'replaced'
  if (isGated(event)) return 'waiting'
  return STATUSES.find(status => status === event.status) ?? 'unknown'
}

/**
 * An untrusted text inside a quoted label. Every character except letters, digits and a few harmless signs becomes a
 * Mermaid entity code (`#35;`), so that no quote, bracket, backtick, directive, markdown or HTML gets through.
 */
function label(text: string): string {
  return visibleText(text)
    .trim()
    .replace(UNSAFE_IN_LABEL, character => `#${character.codePointAt(0) ?? 0};`)
}

/** Mermaid itself inserts `ﬂ` (U+FB02) for an entity code. */
const UNSAFE_IN_LABEL = /[^\p{L}\p{M}\p{Nd} ._/,-]|\ufb02/gu
