import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import { counted } from '../../formats/terminal/count-text.ts'
import type { Selection } from '../../ops/selection.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { visibleText } from '../../stream/text.ts'
import type { Verb } from './action.ts'
import type { OnStreamsOptions } from './options.ts'
import { type Rerun, readRunFile } from './rerun.ts'

/** The rest of a former run, as a batch. */
export interface Repeated {
  readonly given: Rerun['given']
  readonly selection: Selection
  readonly eventsOf: (stream: string) => readonly string[]
  /** A stream that has the name of the one that was meant then. */
  readonly objection: (item: SummarizedStream) => Problem | undefined
  /** The identity that a stream had when the run was planned, if it had one. */
  readonly bornOf: (stream: string) => string | undefined
  readonly sentence: string
  /** @throws UsageError it was another store */
  checkStore(address: string): void
}

/** What `--rerun` asks for; `undefined` without it. */
export async function repeated(verb: Verb, options: OnStreamsOptions): Promise<Repeated | undefined> {
  const { rerun: path, only } = options
  if (path === undefined) {
    if (only !== undefined) throw new UsageError('--only goes with --rerun', { hint: 'A run file has outcomes.' })
    return undefined
  }
  checkAlone(options)
  const run = await readRunFile(path, only)
  if (run.verb !== verb.name) {
    throw new UsageError(`${path} is the run of another command: ${run.verb}`, { hint: `${run.verb} --rerun ${path}` })
  }
  return {
    given: run.given,
    selection: { kind: 'list', names: [...run.rest.keys()] },
    eventsOf: stream => run.rest.get(stream)?.events ?? [],
    objection: item => otherLife(item, run),
    bornOf: stream => run.rest.get(stream)?.born || undefined,
    sentence: `${counted(run.rest.size, 'stream')} left to do of that run of ${counted(run.total, 'target')}`,
    checkStore(address) {
      if (address === run.store) return
      throw new UsageError(`that run changed another store, ${visibleText(run.store)}`, {
        hint: `This one is ${visibleText(address)}; name the other with --store.`,
      })
    },
  }
}

/** Flags that the run file answers. */
const ANSWERED = {
  event: '-e',
  reason: '-m',
  by: '--by',
  commandId: '--command-id',
  streams: '--streams',
  all: '--all',
  match: '--match',
  status: '--status',
  failed: '--failed',
  overdue: '--overdue',
  locked: '--locked',
  key: '--key',
  topic: '--topic',
  tag: '--tag',
  trackingId: '--tracking-id',
  since: '--since',
} as const satisfies { readonly [Name in keyof OnStreamsOptions]?: string }

function checkAlone(options: OnStreamsOptions): void {
  const names = Object.keys(ANSWERED) as (keyof typeof ANSWERED)[]
  const flag = options.names.length > 0 ? 'names' : names.find(name => options[name] !== undefined)
  if (flag === undefined) return
  throw new UsageError(`--rerun and ${flag === 'names' ? flag : ANSWERED[flag]} do not go together`, {
    hint: 'The run file says which streams and events, who and why.',
  })
}

function otherLife({ listed, pin }: SummarizedStream, { rest }: Rerun): Problem | undefined {
  const born = rest.get(listed.name)?.born ?? ''
  if (born === '' || pin.ifBorn === undefined || pin.ifBorn === born) return undefined
  return problem('changed', `${listed.name}: another stream has its name now`, {
    exit: exitOfRefusal('changed'),
    stream: listed.name,
  })
}
