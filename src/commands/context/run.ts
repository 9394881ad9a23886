import { resolve } from 'node:path'
import { commandLine } from '../../cli/command-line.ts'
import {
  type Context,
  type Contexts,
  contextNamed,
  readContexts,
  updateContexts,
  withContext,
  withCurrent,
  withoutContext,
} from '../../cli/contexts/contexts.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { isListFormat, type Output, openOutput, writeList } from '../../cli/output.ts'
import { CommandFailed, type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { guardWords } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import { type Cell, table } from '../../formats/terminal/table.ts'
import { formatAddress, parseAddress } from '../../store/address.ts'
import { compareNames } from '../../store/names.ts'
import { defined } from '../../util/defined.ts'
import { visibleText } from '../../util/visible-text.ts'

export interface AddContextOptions extends GlobalOptions {
  readonly name: string
  readonly protected?: boolean
  readonly readOnly?: boolean
  readonly credentialFile?: string
  readonly use?: boolean
  readonly replace?: boolean
}

/** Adds a context. Adding it again changes nothing; a different store under its name needs `--replace`. */
export async function addContext(options: AddContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const context = contextOf(options)
  if (context.credentialFile !== undefined) {
    const { credentialEnvironment } = await import('../../cli/contexts/credentials.ts')
    credentialEnvironment(context.store, context.credentialFile, runtime.env)
  }
  const { before, after } = updateContexts(runtime.env, known => added(known, context, options))
  const old = before.byName.get(context.name)
  const outcome = old === undefined ? 'added' : isSame(old, context) ? 'already' : 'replaced'
  if (options.output === 'json') await output.text(jsonDocument({ outcome, context: contextJson(context, after) }))
  else if (!options.quiet) await output.lines([`${outcome}: ${contextLine(context)}`])
  if (old?.isReadOnly && !context.isReadOnly) await output.say('it was read-only and no longer is')
  if (old?.isProtected && !context.isProtected) await output.say('it was protected and no longer is')
  if (after.current !== context.name)
    await output.say(`-c ${context.name} uses it for one command, context use ${context.name} from now on`)
  return undefined
}

function contextOf(options: AddContextOptions): Context {
  const { name, store, context, protected: isProtected, readOnly, credentialFile } = options
  if (context !== undefined)
    throw new UsageError('-c names an existing context; the argument names the new one', {
      hint: 'Write context add NAME --store ADDRESS.',
    })
  if (store === undefined)
    throw new UsageError('which store?', {
      hint: `Write context add ${name} --store ADDRESS; see help addresses.`,
    })
  return {
    name,
    store: lastingAddress(store),
    isProtected: isProtected ?? false,
    isReadOnly: readOnly ?? false,
    credentialFile: credentialFile === undefined ? undefined : resolve(credentialFile),
  }
}

/** The address, valid in every folder and in every process. @throws UsageError for `memory:` */
function lastingAddress(text: string): string {
  const address = parseAddress(text)
  if (address.kind === 'memory')
    throw new UsageError('memory: only lives for one command', { hint: 'sqlite:PATH is persistent.' })
  return formatAddress(address.kind === 'sqlite' ? { ...address, path: resolve(address.path) } : address)
}

function added(known: Contexts, context: Context, { use, replace }: AddContextOptions): Contexts {
  const old = known.byName.get(context.name)
  if (old !== undefined && !isSame(old, context) && !replace) throw new CommandFailed(taken(old))
  const after = old !== undefined && isSame(old, context) ? known : withContext(known, context)
  return use ? withCurrent(after, contextNamed(after, context.name, 'context add').name) : after
}

function taken(old: Context): Problem {
  return problem('exists', `the context ${old.name} already exists; nothing was changed`, {
    exit: 5,
    facts: [['is', contextLine(old)]],
    hint: '--replace replaces it.',
  })
}

function isSame(one: Context, other: Context): boolean {
  return (
    one.store === other.store &&
    one.isProtected === other.isProtected &&
    one.isReadOnly === other.isReadOnly &&
    one.credentialFile === other.credentialFile
  )
}

export interface SetContextOptions extends GlobalOptions {
  readonly name: string
  readonly protected?: boolean
  readonly readOnly?: boolean
}

/** Changes how a context guards its store. */
export async function setContext(options: SetContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { name, protected: isProtected, readOnly: isReadOnly } = options
  if (isProtected === undefined && isReadOnly === undefined)
    throw new UsageError('nothing to change', {
      hint: 'Give --protected, --no-protected, --read-only or --no-read-only.',
    })
  const { before, after } = updateContexts(runtime.env, known => {
    const old = contextNamed(known, name, 'context set')
    const next = { ...old, ...defined({ isProtected, isReadOnly }) }
    return isSame(old, next) ? known : withContext(known, next)
  })
  const context = contextNamed(after, name, 'context set')
  const outcome = before === after ? 'already' : 'changed'
  if (options.output === 'json') await output.text(jsonDocument({ outcome, context: contextJson(context, after) }))
  else if (!options.quiet) await output.lines([`${outcome}: ${contextLine(context)}`])
  return undefined
}

/** Lists the contexts, sorted by name. */
export async function listContexts(options: GlobalOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const contexts = readContexts(runtime.env)
  const sorted = [...contexts.byName.values()].sort((a, b) => compareNames(a.name, b.name))
  await print(options.output, sorted, contexts, output)
  if (sorted.length === 0)
    await output.say(`no contexts; ${commandLine(runtime, ['context', 'add', 'NAME', '--store', 'ADDRESS'])} adds one`)
  const before = contexts.current === undefined ? undefined : overriding(runtime)
  if (before !== undefined) await output.say(before)
  return undefined
}

async function print(
  format: string | undefined,
  sorted: readonly Context[],
  contexts: Contexts,
  output: Output,
): Promise<void> {
  if (isListFormat(format)) {
    const items = sorted.map(context => contextJson(context, contexts))
    return writeList(format, items, { fields: CONTEXT_FIELDS }, output)
  }
  if (format === 'name') return output.lines(sorted.map(({ name }) => name))
  const rows = sorted.map(context => row(context, contexts))
  const width = output.width === undefined ? {} : { width: output.width }
  return output.lines(table(COLUMNS, rows, { paint: output.paint, ...width }))
}

const CONTEXT_FIELDS = ['name', 'store', 'protected', 'readOnly', 'credentialFile', 'current']

const COLUMNS = [
  { title: ' ' },
  { title: 'NAME' },
  { title: 'STORE', give: 1, min: 20 },
  { title: 'PROTECTED' },
  { title: 'READ-ONLY' },
  { title: 'CREDENTIALS', give: 2, min: 11 },
]

function row({ name, store, isProtected, isReadOnly, credentialFile = '' }: Context, { current }: Contexts): Cell[] {
  return [
    name === current ? { text: '*', style: 'active' } : '',
    name === current ? { text: name, style: 'active' } : name,
    visibleText(store),
    isProtected ? { text: 'yes', style: 'warn' } : '',
    isReadOnly ? { text: 'yes', style: 'warn' } : '',
    visibleText(credentialFile),
  ]
}

export interface RemoveContextOptions extends GlobalOptions {
  readonly name: string
}

/** Removes a context and prints it, so that it can be added again. */
export async function removeContext(options: RemoveContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { name } = options
  const { before } = updateContexts(runtime.env, contexts =>
    withoutContext(contexts, contextNamed(contexts, name, 'context remove').name),
  )
  const removed = contextNamed(before, name, 'context remove')
  if (options.output === 'json')
    await output.text(jsonDocument({ outcome: 'removed', context: contextJson(removed, before) }))
  else if (!options.quiet) await output.lines([`removed: ${contextLine(removed)}`])
  if (before.current === name) await output.say('it was the current context; now there is none')
  if (removed.isProtected) await output.say('its store is no longer protected, unless by another context')
  return undefined
}

export interface ContextOptions extends GlobalOptions {
  /** `context -`: back to the previous context. */
  readonly back: boolean
}

/** Shows the current context, or the one of `-c`. */
export async function showContext(options: ContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const contexts = readContexts(runtime.env)
  const name = options.context ?? contexts.current
  const how = options.context === undefined ? 'the current context' : '-c'
  const shown = name === undefined ? undefined : contextNamed(contexts, name, how)
  if (options.output === 'json')
    await output.text(jsonDocument({ context: shown === undefined ? null : contextJson(shown, contexts) }))
  else if (shown !== undefined) await output.lines([contextLine(shown)])
  if (shown === undefined) await output.say('there is no current context')
  const before = options.context === undefined ? overriding(runtime) : undefined
  if (before !== undefined) await output.say(before)
  return undefined
}

export interface UseContextOptions extends GlobalOptions {
  /** `-` is the previous context; `undefined` with `--none`. */
  readonly name: string | undefined
}

/** Makes a context the current one. */
export async function useContext(options: UseContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { after: contexts } = updateContexts(runtime.env, before => used(before, options.name))
  const current = contexts.current === undefined ? undefined : contextNamed(contexts, contexts.current, 'context use')
  if (options.output === 'json')
    await output.text(jsonDocument({ context: current === undefined ? null : contextJson(current, contexts) }))
  else if (!options.quiet)
    await output.lines([current === undefined ? 'there is no current context' : contextLine(current)])
  const before = overriding(runtime)
  if (before !== undefined) await output.say(before)
  return undefined
}

function used(contexts: Contexts, name: string | undefined): Contexts {
  if (name === undefined) return withCurrent(contexts, undefined)
  if (name !== '-') return withCurrent(contexts, contextNamed(contexts, name, 'context use').name)
  if (contexts.previous === undefined)
    throw new UsageError('there is no previous context', { hint: 'context use NAME sets the current context.' })
  return withCurrent(contexts, contextNamed(contexts, contexts.previous, 'the previous context').name)
}

/** A context in one line. */
function contextLine(context: Context): string {
  const { name, store, credentialFile } = context
  const credential = credentialFile === undefined ? '' : `, credentials in ${visibleText(credentialFile)}`
  return `${name}  ${visibleText(store)}${guardWords(context)}${credential}`
}

/** A context as JSON. Fields are only ever added. */
function contextJson({ name, store, isProtected, isReadOnly, credentialFile }: Context, { current }: Contexts) {
  return {
    name,
    store,
    protected: isProtected,
    readOnly: isReadOnly,
    credentialFile: credentialFile ?? null,
    current: name === current,
  }
}

/** A sentence if a variable takes precedence over the current context; else `undefined`. */
function overriding({ env }: Runtime): string | undefined {
  const name = ['LEASECTL_STORE', 'LEASECTL_CONTEXT'].find(variable => env[variable])
  return name === undefined ? undefined : `${name} is set: it takes precedence over the current context`
}
