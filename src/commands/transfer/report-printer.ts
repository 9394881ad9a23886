import { itemsWriter } from '../../cli/items-writer.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import type { Output } from '../../cli/output.ts'
import { problemJson } from '../../cli/problem-text.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import { OUTCOME_LOOKS } from '../batch/outcome-looks.ts'
import type { Transferred, TransferWord } from './outcome.ts'
import type { Tally } from './tally.ts'

/** How outcomes are printed: a line each, an item of one document, a document each, or not: stdout has the data. */
export type ReportFormat = 'text' | 'json' | 'ndjson' | 'none'

export function isForPrograms(format: ReportFormat): boolean {
  return format === 'json' || format === 'ndjson'
}

/** Prints outcomes, and what belongs behind them. */
export interface Printer {
  add(outcome: Transferred): Promise<void>
  end(tally: Tally): Promise<void>
}

export function printer(format: ReportFormat, options: GlobalOptions, output: Output): Printer {
  switch (format) {
    case 'ndjson':
      return { add: outcome => output.text(jsonLine(outcomeJson(outcome))), end: async () => {} }
    case 'json':
      return jsonPrinter(output)
    case 'none':
      return { add: async () => {}, end: async () => {} }
    case 'text':
      return {
        add: async outcome => {
          if (!options.quiet) await output.lines([outcomeLine(outcome, output)])
        },
        end: async () => {},
      }
    default:
      return format satisfies never
  }
}

function jsonPrinter(output: Output): Printer {
  const items = itemsWriter(output)
  return {
    add: outcome => items.write([jsonText(outcomeJson(outcome), 0)]),
    end: ({ total, counts }) => items.end({ total, counts }),
  }
}

/** An outcome as JSON; fields are only ever added. */
function outcomeJson({ stream, word, note, version, place, problem: why }: Transferred) {
  return {
    stream,
    outcome: word,
    note,
    version: version ?? null,
    place: place ?? null,
    error: why === undefined ? null : problemJson(why),
  }
}

const LOOKS = {
  ...OUTCOME_LOOKS,
  todo: { glyph: '○', style: 'plain' },
  skipped: { glyph: '-', style: 'dim' },
  gone: { glyph: '-', style: 'dim' },
} as const satisfies { readonly [Word in TransferWord]: object }

const WORD_WIDTH = 7

function outcomeLine({ stream, word, note, version, place, problem: why }: Transferred, { paint }: Output): string {
  const { glyph, style } = LOOKS[word]
  const parts = [
    `${paint(style, `${glyph} ${word}`)}${' '.repeat(WORD_WIDTH - word.length)}`,
    visibleName(stream),
    visibleText(note.startsWith(`${stream}: `) ? note.slice(stream.length + 2) : note),
    place === undefined ? '' : visibleText(place),
    version === undefined ? '' : paint('dim', `v${version}`),
    why === undefined ? '' : paint('dim', `[${visibleText(why.code)}]`),
  ]
  return parts.filter(part => part !== '').join('  ')
}
