import { commandLine } from '../../cli/command-line.ts'
import { errorProblem } from '../../cli/error-problem.ts'
import { CommandFailed, problem } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore, StoreChoice } from '../../cli/runtime.ts'
import { type Inbox, readInbox } from '../../inbox/inbox.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'

/** The inbox of a name. @throws CommandFailed if there is none */
export async function findInbox(store: StreamStore, name: string, runtime: Runtime): Promise<Inbox> {
  const inbox = await readInbox(store, name, runtime.signal)
  if (inbox !== undefined) return inbox
  throw new CommandFailed(
    problem('inbox-not-found', `there is no inbox ${name}`, {
      hint: 'inbox create makes one.',
      tryCommand: commandLine(runtime, ['inbox', 'ls']),
    }),
  )
}

/** The inbox of a name in another store than that of the command. @throws CommandFailed, with that store in its way out */
export async function findInboxIn(opened: RuntimeStore, name: string, runtime: Runtime): Promise<Inbox> {
  let inbox: Inbox | undefined
  try {
    inbox = await readInbox(opened.store, name, runtime.signal)
  } catch (error) {
    throw new CommandFailed(errorProblem(error, runtime, opened))
  }
  if (inbox !== undefined) return inbox
  throw missingIn(opened, name, 'inbox create makes one.', runtime)
}

/** There is no such inbox in one of two stores. */
export function missingIn(opened: RuntimeStore, name: string, hint: string, { startedAs }: Runtime): CommandFailed {
  return new CommandFailed(
    problem('inbox-not-found', `there is no inbox ${name} in ${visibleText(opened.address)}`, {
      hint,
      tryCommand: commandLine({ startedAs, opened }, ['inbox', 'create', name]),
    }),
  )
}

/** A second store, named in a flag by an address or by a context: a context has no colon in its name. */
export function otherStore(text: string, contextFlag: string): string | StoreChoice {
  return text.includes(':') ? text : { context: text, contextFlag }
}
