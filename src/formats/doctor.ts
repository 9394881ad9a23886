import type { ProbeStep } from '../ops/doctor/probe.ts'
import type { StoreExamination } from '../ops/doctor/store.ts'
import type { Finding, Severity } from '../ops/doctor/stream.ts'
import type { AzureAuth, StoreFacts } from '../store/facts.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTime, orNull } from './json.ts'
import type { Paint, Style } from './terminal/style.ts'
import { widthOf } from './terminal/width.ts'

/** A finding with the command line that fixes it. */
export interface ShownFinding extends Finding {
  readonly tryCommand?: string
}

/** Number of findings of each severity. */
export type FindingCounts = { readonly [Of in Exclude<Severity, 'ok'>]: number }

const SEVERITY_STYLES: { readonly [Of in Severity]: readonly [glyph: string, style: Style] } = {
  error: ['✗', 'bad'],
  warning: ['!', 'warn'],
  info: ['•', 'plain'],
  ok: ['✓', 'good'],
}

/** Columns before the text of a finding: two blanks, the glyph, the longest word, two blanks. */
const INDENT = 13

export interface FindingTextOptions {
  readonly paint: Paint
  /** Columns of the terminal; without it nothing is folded. */
  readonly width?: number | undefined
}

/** A finding with its code, followed by the advice. Long texts are wrapped. */
export function findingLines(finding: ShownFinding, options: FindingTextOptions): string[] {
  const { severity, subject, message, hint, tryCommand, code } = finding
  const [glyph, style] = SEVERITY_STYLES[severity]
  const room = (options.width ?? Number.POSITIVE_INFINITY) - INDENT
  const text = `${subject === '' ? '' : `${subject}: `}${message}`
  const [first = '', ...more] = wrappedAtBlanks(visibleText(`${text} [${code}]`), room)
  const head = `  ${options.paint(style, `${glyph} ${severity}`)}${' '.repeat(INDENT - 4 - severity.length)}${first}`
  const advice = hint === undefined ? [] : wrappedAtBlanks(visibleText(hint), room)
  const command = tryCommand === undefined ? [] : [`try  ${visibleText(tryCommand)}`]
  return [head, ...[...more, ...advice.map(line => options.paint('dim', line)), ...command].map(indent)]
}

function indent(line: string): string {
  return ' '.repeat(INDENT) + line
}

/** Wraps at blanks to `width` columns; a longer word stays whole. */
function wrappedAtBlanks(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** `2 errors, 1 warning`, or that no problems were found. */
export function findingCounts({ error, warning, info }: FindingCounts): string {
  const parts = [counted(error, 'error'), counted(warning, 'warning'), info === 0 ? '' : `${info} info`]
  return parts.filter(part => part !== '').join(', ') || 'no problems found'
}

function counted(count: number, word: string): string {
  return count === 0 ? '' : `${count} ${word}${count === 1 ? '' : 's'}`
}

/** A finding of `doctor -o json`; fields are only ever added. */
export function findingJson({ severity, code, subject, message, count = 1, hint, tryCommand }: ShownFinding) {
  return { severity, code, subject: orNull(subject), message, count, hint: orNull(hint), try: orNull(tryCommand) }
}

/** The store in `doctor -o json`. */
export function storeJson({ facts, probe }: StoreExamination, findings: readonly ShownFinding[]) {
  const { kind, address, unknown, ...others } = facts
  return {
    address,
    kind,
    facts: { ...others, ...readable(facts) },
    unknown,
    steps: probe.map(stepJson),
    findings: findings.map(findingJson),
  }
}

/** Facts whose JSON form differs from the internal one. */
function readable(facts: StoreFacts): object {
  if (facts.kind === 'sqlite' && facts.mode !== undefined) return { mode: facts.mode.toString(8).padStart(4, '0') }
  return facts.kind === 'azure' ? { auth: authJson(facts.auth) } : {}
}

function authJson(auth: AzureAuth): object {
  if (auth.kind !== 'sas') return auth
  return { kind: auth.kind, permissions: auth.permissions, expires: jsonTime(auth.expiresMs) }
}

/** One probe of a store; fields are only ever added. */
function stepJson({ name, outcome, ms, code, message, hint }: ProbeStep) {
  return { name, outcome, ms, code: orNull(code), message: orNull(message), hint: orNull(hint) }
}

/** Heading of the store's section. */
export function storeTitle({ address }: StoreFacts, paint: Paint): string {
  return `store  ${paint('strong', visibleText(address))}`
}

/** Heading of a stream's section. */
export function streamTitle(name: string, paint: Paint): string {
  return `stream ${paint('strong', visibleName(name))}`
}
