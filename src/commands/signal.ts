import { type Command, Option } from 'commander'
import type { Run } from '../cli/command.ts'
import { type DataFlags, dataFlags } from '../cli/data-flags.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { requiredText, streamNamesBesideEvents } from '../cli/values.ts'
import { EFFECT, registerBatch, runTransactions } from './batch/command.ts'
import { ALREADY_FINAL, type BatchCommandOptions, type TransactCommand } from './batch/options.ts'

const NOTES = `
The last argument is the name of the signal; the others are streams. An event waits for a signal with --wait-for NAME of
event advance and init, or wait-for: in a template. Of several the one with the lowest id takes it; --every gives it to
all (--all selects all streams). If none waits yet the stream keeps it, at most 100 of them, and the first event that
waits for it later takes the oldest; show lists what is kept. A suspended stream takes signals too; a final one refuses.
--data is the input of the event that takes the signal. With the same --command-id a signal is given once, whoever
repeats it.
`

/** Arguments and flags of `signal`. */
export type SignalOptions = BatchCommandOptions & DataFlags

export const SIGNAL: TransactCommand = {
  name: 'signal',
  thirdPerson: 'signals',
  pastParticiple: 'signaled',
  summary: 'signal a stream that something happened: the event that waits for it goes on, or the next that will',
  examples: [
    ['signal orders/4711 approve', 'the event that waits for approve goes on'],
    [`signal orders/4711 paid --data '{"amount":12}'`, 'with the input of that event'],
    ['signal orders/4711 paid --data @receipt.pdf --command-id receipt-31', 'safe to repeat: it is given once'],
    ["signal --match 'orders/**' resume-shipping --dry-run", 'show which streams would get it'],
    ["signal --match 'orders/**' resume-shipping", 'show the streams, ask, then signal all of them'],
    ['events --waiting-for signal', 'what waits for which signal'],
  ],
  leavesOut: ALREADY_FINAL,
  operation: (_, { signalName = '', every, input }) => ({
    op: 'signal',
    name: signalName,
    ...(every ? { every } : {}),
    ...(input === undefined ? {} : { data: input }),
  }),
  report({ changed, outcome }) {
    // What an event received follows the mark of the signal.
    const kept = changed.at(-1)?.how === 'target'
    const isNew = kept && outcome === 'done'
    return { fields: { kept }, ...(isNew ? { words: 'signaled: kept until an event waits for it' } : {}) }
  },
  consequence: ({ opened: { length } }) => (length === 0 ? undefined : `${length} opened`),
}

export function register(parent: Command, runtime: Runtime, go: Run<BatchCommandOptions> = run): void {
  const command = parent
    .command(SIGNAL.name)
    .usage('[options] [STREAM...] NAME')
    .argument('[STREAM...]', 'names of streams, and last the name of the signal', texts)
  dataFlags(command, 'the event that takes the signal')
  command.addOption(
    new Option('--every', 'for every event of a stream that waits for it, not only the one with the lowest id'),
  )
  registerBatch(command, runtime, { ...SIGNAL, effect: EFFECT }, (options, at) => go(named(options), at))
  command.addHelpText('after', NOTES)
}

function texts(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text]
}

/** The last argument is the signal. With `--rerun` the run file has its name. */
function named(options: BatchCommandOptions): BatchCommandOptions {
  if (options.rerun !== undefined) return options
  const last = options.names.at(-1)
  if (last === undefined) {
    throw new UsageError('which signal?', { hint: 'Its name is the last argument: signal STREAM... NAME' })
  }
  const names = options.names
    .slice(0, -1)
    .reduce((previous: readonly string[], text) => streamNamesBesideEvents(text, previous), [])
  return { ...options, names, signalName: requiredText('the signal')(last) }
}

async function run(options: SignalOptions, runtime: Runtime) {
  const { data, dataType, ...own } = options
  const { readData } = await import('../cli/data.ts')
  const read = await readData({ ...(data && { data }), ...(dataType && { dataType }) }, runtime)
  return runTransactions(SIGNAL)({ ...own, ...(read.data && { input: read.data }) }, runtime)
}
