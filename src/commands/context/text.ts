import type { Context, Contexts } from '../../cli/contexts/contexts.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { visibleText } from '../../stream/text.ts'

/** A context in one line. */
export function contextLine({ name, store, isProtected, credentialFile }: Context): string {
  const credential = credentialFile === undefined ? '' : `, credentials in ${visibleText(credentialFile)}`
  return `${name}  ${visibleText(store)}${isProtected ? ', protected' : ''}${credential}`
}

/** A context as JSON; fields are only ever added. */
export function contextJson({ name, store, isProtected, credentialFile }: Context, { current }: Contexts) {
  return { name, store, protected: isProtected, credentialFile: credentialFile ?? null, current: name === current }
}

/** What of the environment comes before the current context; `undefined` if nothing does. */
export function overriding({ env }: Runtime): string | undefined {
  const name = ['LEASECTL_STORE', 'LEASECTL_CONTEXT'].find(variable => env[variable])
  return name === undefined ? undefined : `${name} is set: it comes before the current context`
}
