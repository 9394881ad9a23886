import { exitOf, exitOfRefusal } from '../../cli/exit-codes.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import {
  type FindingCounts,
  findingCounts,
  findingJson,
  findingLines,
  type ShownFinding,
  storeJson,
  storeTitle,
  streamTitle,
} from '../../formats/doctor.ts'
import { API_VERSION, jsonLine, jsonText } from '../../formats/json.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { StoreExamination } from '../../ops/doctor/store.ts'
import type { Finding } from '../../ops/doctor/stream.ts'
import type { Selection } from '../../ops/selection.ts'

/** The totals of an examination. */
export interface DoctorSummary {
  /** Number of streams examined; `undefined` if none were selected. */
  readonly examined: number | undefined
  /** False if the examination ended early. */
  readonly complete: boolean
  /** Findings of the store and all streams. */
  readonly counts: FindingCounts
}

/** Prints findings as they are made. */
export interface DoctorOutput {
  store(examination: StoreExamination, findings: readonly ShownFinding[]): Promise<void>
  /** Called for every examined stream. */
  stream(name: string, findings: readonly ShownFinding[]): Promise<void>
  end(summary: DoctorSummary): Promise<void>
}

/** The output that `-o` selects. `all`: text output includes infos of streams, and streams without findings. */
export function openDoctorOutput(format: string | undefined, all: boolean, output: Output): DoctorOutput {
  switch (format) {
    case 'json':
      return oneDocument(output)
    case 'ndjson':
      return documentPerLine(output)
    default:
      return text(all, output)
  }
}

function text(all: boolean, output: Output): DoctorOutput {
  const { paint, width } = output
  // Consecutive findings often share a hint, which is printed once.
  const lines = (findings: readonly ShownFinding[]) =>
    findings.flatMap((finding, at) => {
      const { hint, ...rest } = finding
      return findingLines(hint === findings[at - 1]?.hint ? rest : finding, { paint, width })
    })
  let hidden = 0
  return {
    store: (examination, findings) => output.lines([storeTitle(examination.facts, paint), ...lines(findings)]),
    async stream(name, findings) {
      const shown = all ? findings : findings.filter(({ severity }) => severity !== 'info')
      hidden += findings.length - shown.length
      if (shown.length > 0) await output.lines(['', streamTitle(name, paint), ...lines(shown)])
      else if (all) await output.lines(['', streamTitle(name, paint), ...lines([SOUND])])
    },
    async end({ examined, counts }) {
      const streams = examined === undefined ? '' : `${counted(examined, 'stream')} examined; `
      await output.lines(['', `${streams}${findingCounts(counts)}${hidden === 0 ? '' : ' (-v shows them)'}`])
    },
  }
}

const SOUND = { severity: 'ok', code: 'sound', subject: '', message: 'no problems found' } as const

/** One document, written piece by piece. Streams without findings are only counted. */
function oneDocument(output: Output): DoctorOutput {
  let first = true
  return {
    async store(examination, findings) {
      const store = jsonText(storeJson(examination, findings), 0)
      await output.text(`{"apiVersion":${JSON.stringify(API_VERSION)},"store":${store},\n"streams":[`)
    },
    async stream(name, findings) {
      if (findings.length === 0) return
      await output.text(`${first ? '\n' : ',\n'}${jsonText({ stream: name, findings: findings.map(findingJson) }, 0)}`)
      first = false
    },
    async end({ examined = 0, complete, counts }) {
      await output.text(`],\n"examined":${examined},"complete":${complete},"counts":${jsonText(counts, 0)}}\n`)
    },
  }
}

/** One line for the store, for each stream with findings, and last for the counts; `record` distinguishes them. */
function documentPerLine(output: Output): DoctorOutput {
  return {
    store: (examination, findings) => output.text(jsonLine({ record: 'store', ...storeJson(examination, findings) })),
    async stream(name, findings) {
      if (findings.length > 0)
        await output.text(jsonLine({ record: 'stream', stream: name, findings: findings.map(findingJson) }))
    },
    end: ({ examined = 0, complete, counts }) =>
      output.text(jsonLine({ record: 'summary', examined, complete, counts })),
  }
}

/** Counts findings, and keeps the errors that the exit code depends on. */
export class DoctorTally {
  readonly #counts = { error: 0, warning: 0, info: 0 }
  /** Errors of the store, worst first. */
  readonly #storeErrors: Finding[] = []
  #examined = 0
  #withErrors = 0
  #missing: string | undefined
  #unreadable: Finding | undefined

  get counts(): FindingCounts {
    return this.#counts
  }

  get examined(): number {
    return this.#examined
  }

  addStore(findings: readonly Finding[]): void {
    this.#count(findings)
    this.#storeErrors.push(...findings.filter(({ severity }) => severity === 'error'))
  }

  addStream(findings: readonly Finding[]): void {
    this.#examined++
    this.#count(findings)
    if (findings.some(({ severity }) => severity === 'error')) this.#withErrors++
    this.#unreadable ??= findings.find(({ code }) => code === 'unreadable' || exitOf(code) === 12)
  }

  addMissing(name: string, findings: readonly Finding[]): void {
    this.addStream(findings)
    this.#missing ??= name
  }

  /** The problem that the command ends with: an error of the store takes precedence over those of streams. */
  problem(selection: Selection | undefined): Problem | undefined {
    return this.#storeProblem() ?? this.#streamProblem(selection)
  }

  #storeProblem(): Problem | undefined {
    const [first, ...others] = this.#storeErrors
    if (first === undefined) return undefined
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    // The finding was printed with its hint.
    return problem(first.code, `the store: ${first.message}${more}`, { exit: exitOfRefusal(first.code) })
  }

  #streamProblem(selection: Selection | undefined): Problem | undefined {
    if (this.#missing !== undefined && selection?.kind === 'names') return missingProblem(this.#missing)
    if (this.#withErrors === 0) return undefined
    const one = this.#examined === 1
    const message = one
      ? 'errors in the stream'
      : `errors in ${countText(this.#withErrors)} of ${counted(this.#examined, 'stream')}`
    if (one && this.#unreadable?.code === 'unreadable') return problem('bad-document', 'the document cannot be read')
    if (one && this.#unreadable !== undefined) return problem(this.#unreadable.code, 'the stream cannot be read')
    return problem('unsound', message, { exit: 7, retryable: false })
  }

  #count(findings: readonly Finding[]): void {
    for (const { severity, count = 1 } of findings) if (severity !== 'ok') this.#counts[severity] += count
  }
}
