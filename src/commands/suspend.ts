import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { messageOf, registerTransactCommand, runTransactions, withReason } from './batch/command.ts'
import type { BatchCommandOptions, TransactCommand } from './batch/options.ts'

const NOTES = `
A suspended stream begins nothing: start is refused, exit 5, with who suspended it, since when and why. What workers have
claimed goes on and ends; --stop hands it back at once, as the same attempt: exec and work end their programs at the next
heartbeat (SIGTERM, then SIGKILL). Nothing of the stream is due: resume adds the time that passed to its limits; dates stay.
cancel, abort, retry, ack and event set work as always. Programs of the 2013 library know no suspension: doctor reports
streams that went on.
`

export const SUSPEND: TransactCommand = {
  name: 'suspend',
  thirdPerson: 'suspends',
  pastParticiple: 'suspended',
  summary: 'suspend a stream: nothing of it is begun and nothing is due until it is resumed',
  examples: [
    ['suspend orders/4711 -m "wrong address, asking"', 'claimed events go on and end'],
    ['suspend orders/4711 -m "wrong prices" --stop', 'hand back what workers have, at once'],
    ["suspend --match 'orders/**' -m INC-9 --dry-run", 'show which streams would be suspended'],
    ['ls --suspended -o wide', 'who suspended what, since when and why'],
    ['resume --suspended -m INC-9', 'show the suspended streams, ask, then resume all of them'],
  ],
  leavesOut({ isEnded, isSuspended }, { stop = false }) {
    if (isEnded) return 'already final'
    return isSuspended && !stop ? 'already suspended' : undefined
  },
  // A stream that a worker claims between preview and change must not go on because of that.
  pinsLifeOnly: true,
  whyReason: 'Say with -m why: it is shown wherever the stream is listed.',
  operation: (_, options) => ({ op: 'suspend', ...messageOf(options), ...(options.stop ? { stop: true } : {}) }),
  consequence({ changed }) {
    const handedBack = changed.filter(({ how }) => how === 'cascade').length
    return handedBack === 0 ? undefined : `${handedBack} handed back`
  },
}

export function register(
  parent: Command,
  runtime: Runtime,
  go: Run<BatchCommandOptions> = runTransactions(SUSPEND),
): void {
  const command = registerTransactCommand(parent, runtime, SUSPEND, withReason(SUSPEND, go), own =>
    own.option('--stop', 'hand back what workers have claimed: they stop at their next heartbeat'),
  )
  command.addHelpText('after', NOTES)
}
