import { InvalidValue } from '../errors.ts'
import type { XmlNode } from './nodes.ts'

/** The document interface of fontoxpath. It passes a bucket, a filter of nodes; returning more nodes is allowed. */
interface DomFacade {
  getAllAttributes(node: XmlNode): readonly XmlNode[]
  getAttribute(node: XmlNode, name: string): string | null
  getChildNodes(node: XmlNode): readonly XmlNode[]
  getData(node: XmlNode): string
  getFirstChild(node: XmlNode): XmlNode | null
  getLastChild(node: XmlNode): XmlNode | null
  getNextSibling(node: XmlNode): XmlNode | null
  getPreviousSibling(node: XmlNode): XmlNode | null
  getParentNode(node: XmlNode): XmlNode | null
}

interface Fontoxpath {
  readonly ReturnType: { readonly ALL_RESULTS: number }
  readonly Language: { readonly XPATH_3_1_LANGUAGE: string }
  evaluateXPath(
    expression: string,
    context: XmlNode,
    facade: DomFacade,
    variables: null,
    returnType: number,
    options: {
      readonly language: string
      readonly namespaceResolver: (prefix: string) => string | null
      readonly logger: { readonly trace: (message: string) => void }
      readonly disableCache: boolean
    },
  ): unknown
}

/** Evaluates an expression on a node; returns the items of fontoxpath's result. @throws its errors */
export type Evaluate = (expression: string, context: XmlNode, namespaces: ReadonlyMap<string, string>) => unknown[]

/**
 * Loads the engine on first use. Its own declarations would add all DOM types of a browser to the program, where `name`
 * and `event` are globals: hence the declarations above, and a specifier that the compiler does not follow.
 *
 * XPath 3.1 only: no XQuery and no updates; `trace()` prints nothing. No function reads files or URLs.
 */
export async function loadEngine(): Promise<Evaluate> {
  const { default: engine } = (await import('fontoxpath' as string)) as { readonly default: Fontoxpath }
  const { ReturnType, Language } = engine
  return (expression, context, namespaces) => {
    const items = engine.evaluateXPath(expression, context, boundedFacade(), null, ReturnType.ALL_RESULTS, {
      language: Language.XPATH_3_1_LANGUAGE,
      // A name without prefix in an expression is in no namespace, whatever the document declares.
      namespaceResolver: prefix => (prefix === '' ? null : (namespaces.get(prefix) ?? null)),
      logger: { trace: () => {} },
      disableCache: true,
    })
    return Array.isArray(items) ? items : [items]
  }
}

/** Enough to visit each event and its neighbours, but not to compare all pairs of a large document. */
const MAX_VISITS = 5_000_000

/** Counts the visited nodes: evaluation is synchronous and ignores signals, so only a limit can abort it. */
function boundedFacade(): DomFacade {
  let visits = 0
  const visit = <Value>(value: Value, count = 1): Value => {
    visits += count
    if (visits > MAX_VISITS) throw new InvalidValue(`it visits more than ${MAX_VISITS} nodes; make it narrower`)
    return value
  }
  const sibling = ({ parent, index }: XmlNode, by: number) => visit(parent?.children[index + by] ?? null)
  return {
    getAllAttributes: node => visit(node.attributes(), node.attributes().length),
    getAttribute: (node, name) => visit(node.attributes().find(attribute => attribute.name === name)?.value ?? null),
    getChildNodes: node => visit(node.children, node.children.length),
    getData: node => visit(node.value),
    getFirstChild: node => visit(node.children[0] ?? null),
    getLastChild: node => visit(node.children.at(-1) ?? null),
    getNextSibling: node => sibling(node, 1),
    getPreviousSibling: node => sibling(node, -1),
    getParentNode: node => visit(node.parent ?? null),
  }
}
