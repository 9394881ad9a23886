import { commandLine } from '../../cli/command-line.ts'
import { CommandFailed, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type Inbox, readInbox } from '../../inbox/inbox.ts'
import type { StreamStore } from '../../store/store.ts'

/** The inbox of a name. @throws CommandFailed if there is none */
export async function findInbox(store: StreamStore, name: string, runtime: Runtime): Promise<Inbox> {
  const inbox = await readInbox(store, name, runtime.signal)
  if (inbox !== undefined) return inbox
  throw new CommandFailed(
    problem('inbox-not-found', `there is no inbox ${name}`, {
      hint: 'inbox ls lists them; inbox create makes one.',
      tryCommand: commandLine(runtime, ['inbox', 'create', name]),
    }),
  )
}
