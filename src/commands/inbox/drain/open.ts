import { CommandFailed, problem } from '../../../cli/problem.ts'
import { type Inbox, readInbox } from '../../../inbox/inbox.ts'
import type { StreamStore } from '../../../store/store.ts'

/** The inbox of a name. @throws CommandFailed if there is none */
export async function inboxNamed(store: StreamStore, name: string, signal: AbortSignal): Promise<Inbox> {
  const inbox = await readInbox(store, name, signal)
  if (inbox !== undefined) return inbox
  throw new CommandFailed(
    problem('inbox-not-found', `there is no inbox ${name} in ${store.address}`, {
      exit: 3,
      hint: `leasectl inbox create ${name} creates it`,
    }),
  )
}
