import { resolve } from 'node:path'
import { type Context, type Contexts, contextNamed, withContext, withCurrent } from '../../cli/contexts/contexts.ts'
import { updateContexts } from '../../cli/contexts/update.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openOutput } from '../../cli/output.ts'
import { CommandFailed, type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { formatAddress, parseAddress } from '../../store/address.ts'
import { contextJson, contextLine } from './text.ts'

export interface AddContextOptions extends GlobalOptions {
  readonly name: string
  readonly protected?: boolean
  readonly credentialFile?: string
  readonly use?: boolean
  readonly replace?: boolean
}

/** Gives a store a name. The same once more is fine; another store of that name needs `--replace`. */
export async function addContext(options: AddContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const context = contextOf(options)
  if (context.credentialFile !== undefined) {
    const { credentialEnvironment } = await import('../../cli/contexts/credentials.ts')
    credentialEnvironment(context.store, context.credentialFile, runtime.env)
  }
  const { before, after } = await updateContexts(runtime.env, known => added(known, context, options), {
    signal: runtime.signal,
  })
  const old = before.byName.get(context.name)
  const outcome = old === undefined ? 'added' : isSame(old, context) ? 'already' : 'replaced'
  if (options.output === 'json') await output.text(jsonDocument({ outcome, context: contextJson(context, after) }))
  else if (!options.quiet) await output.lines([`${outcome}: ${contextLine(context)}`])
  if (old?.isProtected && !context.isProtected) await output.say('it was protected; it is not any more')
  if (after.current !== context.name)
    await output.say(`-c ${context.name} uses it once, context use ${context.name} from now on`)
  return undefined
}

function contextOf({ name, store, context, protected: isProtected, credentialFile }: AddContextOptions): Context {
  if (context !== undefined)
    throw new UsageError('-c names a context that is there; the new one is named by the argument', {
      hint: 'Write context add NAME --store ADDRESS.',
    })
  if (store === undefined)
    throw new UsageError('which store?', {
      hint: `Write context add ${name} --store ADDRESS; help addresses has them.`,
    })
  return {
    name,
    store: lastingAddress(store),
    isProtected: isProtected ?? false,
    credentialFile: credentialFile === undefined ? undefined : resolve(credentialFile),
  }
}

/** Means the same from every folder and in every process. */
function lastingAddress(text: string): string {
  const address = parseAddress(text)
  if (address.kind === 'memory')
    throw new UsageError('memory: lasts no longer than one command', { hint: 'sqlite:PATH is kept.' })
  return formatAddress(address.kind === 'sqlite' ? { ...address, path: resolve(address.path) } : address)
}

function added(known: Contexts, context: Context, { use, replace }: AddContextOptions): Contexts {
  const old = known.byName.get(context.name)
  if (old !== undefined && !isSame(old, context) && !replace) throw new CommandFailed(taken(old))
  const after = old !== undefined && isSame(old, context) ? known : withContext(known, context)
  return use ? withCurrent(after, contextNamed(after, context.name, 'context add').name) : after
}

function taken(old: Context): Problem {
  return problem('exists', `the context ${old.name} is there already; nothing was changed`, {
    exit: 5,
    facts: [['is', contextLine(old)]],
    hint: '--replace replaces it.',
  })
}

function isSame(one: Context, other: Context): boolean {
  return (
    one.store === other.store && one.isProtected === other.isProtected && one.credentialFile === other.credentialFile
  )
}
