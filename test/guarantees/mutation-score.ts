/** The result of a mutation test, from its JSON report. */
export interface MutationReport {
  readonly files: {
    readonly [path: string]: {
      readonly mutants: readonly {
        readonly status: string
        readonly mutatorName: string
        readonly replacement?: string
        readonly location: { readonly start: { readonly line: number } }
      }[]
    }
  }
}

export interface MutationScore {
  /** Detected mutants per 100 valid ones; one that no test covers is undetected. */
  readonly percent: number
  readonly found: number
  readonly tried: number
  /** Mutants excluded by the settings: they must be reported. */
  readonly ignored: number
  /** Files by the number of undetected mutants, worst first. */
  readonly files: readonly FileScore[]
}

export interface FileScore {
  readonly path: string
  readonly percent: number
  readonly found: number
  readonly tried: number
  /** Undetected mutants: `12 ConditionalExpression -> true`. */
  readonly survivors: readonly string[]
}

const FOUND: ReadonlySet<string> = new Set(['Killed', 'Timeout'])
const SURVIVED: ReadonlySet<string> = new Set(['Survived', 'NoCoverage'])

/** Mutants that do not compile, end in an error or are ignored count neither way. */
export function mutationScore({ files }: MutationReport): MutationScore {
  const scores = Object.entries(files).map(([path, { mutants }]): FileScore => {
    const found = mutants.filter(({ status }) => FOUND.has(status)).length
    const alive = mutants.filter(({ status }) => SURVIVED.has(status))
    const survivors = alive.map(
      ({ location, mutatorName, replacement = '' }) => `${location.start.line} ${mutatorName} -> ${replacement}`,
    )
    return { path, found, tried: found + alive.length, percent: percentOf(found, found + alive.length), survivors }
  })
  const [found, tried] = [sum(scores.map(score => score.found)), sum(scores.map(score => score.tried))]
  const ignored = Object.values(files).flatMap(({ mutants }) =>
    mutants.filter(({ status }) => status === 'Ignored'),
  ).length
  const worstFirst = scores.filter(score => score.tried > 0).sort((a, b) => b.survivors.length - a.survivors.length)
  return { percent: percentOf(found, tried), found, tried, ignored, files: worstFirst }
}

function percentOf(found: number, tried: number): number {
  return tried === 0 ? 100 : Math.floor((1_000 * found) / tried) / 10
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
