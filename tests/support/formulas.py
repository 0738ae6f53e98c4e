"""Formulas as models write them: school, analysis, algebra, probability, physics, computing."""

from __future__ import annotations

_LINES = r"""
E = mc^2
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
a^2 + b^2 = c^2
\sin^2\theta + \cos^2\theta = 1
\frac{d}{dx} x^n = n x^{n-1}
\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}
\sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6}
\lim_{x \to 0} \frac{\sin x}{x} = 1
e^{i\pi} + 1 = 0
\nabla \cdot \mathbf{E} = \frac{\rho}{\varepsilon_0}
\nabla \times \mathbf{B} = \mu_0\mathbf{J} + \mu_0\varepsilon_0\frac{\partial\mathbf{E}}{\partial t}
i\hbar \frac{\partial}{\partial t} \Psi = \hat{H} \Psi
P(A \mid B) = \frac{P(B \mid A)\,P(A)}{P(B)}
\binom{n}{k} = \frac{n!}{k!(n-k)!}
\mathbb{E}[X] = \sum_x x\,p(x)
\operatorname{Var}(X) = \mathbb{E}[X^2] - (\mathbb{E}[X])^2
f(x) = \frac{1}{\sigma\sqrt{2\pi}} e^{-\frac{1}{2}\left(\frac{x-\mu}{\sigma}\right)^2}
\begin{pmatrix} a & b \\ c & d \end{pmatrix}
\begin{bmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{bmatrix}
\det \begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc
\begin{cases} x & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}
\left[\begin{array}{cc|c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]
\begin{aligned} a &= b + c \\ &= d \end{aligned}
\begin{align} x + y &= 3 \\ x - y &= 1 \end{align}
\begin{align*} f(x) &= x^2 \\ f'(x) &= 2x \end{align*}
\mathcal{L}\{f(t)\} = \int_0^\infty f(t) e^{-st}\,dt
\mathcal{O}(n \log n)
T(n) = 2T\left(\frac{n}{2}\right) + \Theta(n)
\forall \varepsilon > 0\ \exists \delta > 0 : |x - a| < \delta \implies |f(x) - L| < \varepsilon
A \cup B = \{ x \mid x \in A \lor x \in B \}
A \subseteq B \iff A \cap B = A
f : \mathbb{R} \to \mathbb{R}, \quad x \mapsto x^2
\mathbb{N} \subset \mathbb{Z} \subset \mathbb{Q} \subset \mathbb{R} \subset \mathbb{C}
\neg (p \land q) \equiv \neg p \lor \neg q
\sqrt[3]{27} = 3
\log_2 8 = 3
\ln(ab) = \ln a + \ln b
\frac{\partial f}{\partial x} = \lim_{h \to 0} \frac{f(x+h) - f(x)}{h}
\oint_C \mathbf{F} \cdot d\mathbf{r} = \iint_S (\nabla \times \mathbf{F}) \cdot d\mathbf{S}
\iiint_V (\nabla \cdot \mathbf{F})\,dV
\vec{F} = m\vec{a}
F = G \frac{m_1 m_2}{r^2}
v = v_0 + at
s = ut + \tfrac{1}{2}at^2
PV = nRT
\Delta S \geq 0
\lambda = \frac{h}{p}
\Delta x\,\Delta p \ge \frac{\hbar}{2}
\langle \psi | \hat{A} | \psi \rangle
|\psi\rangle = \alpha|0\rangle + \beta|1\rangle
H = -\sum_i p_i \log_2 p_i
D_{KL}(P \| Q) = \sum_x P(x) \log \frac{P(x)}{Q(x)}
\text{softmax}(z_i) = \frac{e^{z_i}}{\sum_j e^{z_j}}
\sigma(x) = \frac{1}{1 + e^{-x}}
\theta \leftarrow \theta - \eta \nabla_\theta J(\theta)
\hat{y} = \mathbf{w}^\top \mathbf{x} + b
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V
\mathbf{A}\mathbf{x} = \lambda\mathbf{x}
\|x\|_2 = \sqrt{\sum_{i=1}^n x_i^2}
\lfloor x \rfloor \le x < \lfloor x \rfloor + 1
\lceil 2.1 \rceil = 3
a \equiv b \pmod{n}
\gcd(a, b) \cdot \operatorname{lcm}(a, b) = ab
\phi(n) = n \prod_{p \mid n} \left(1 - \frac{1}{p}\right)
\varphi = \frac{1 + \sqrt{5}}{2}
F_n = F_{n-1} + F_{n-2}
\overline{z} = a - bi
\widehat{ABC} = 60^\circ
\triangle ABC \sim \triangle DEF
\angle ABC = 90^\circ
AB \parallel CD, \quad AB \perp EF
\underbrace{a + a + \cdots + a}_{n \text{ times}} = na
\overbrace{x_1 + x_2}^{\text{sum}}
x_1, x_2, \ldots, x_n
1 + \frac{1}{2} + \frac{1}{4} + \dots = 2
\cfrac{1}{1 + \cfrac{1}{2 + \cfrac{1}{3}}}
\dfrac{a}{b} \ne \tfrac{a}{b}
\boxed{x = 42}
\color{red}{x} + y
\textcolor{blue}{a} = b
\xrightarrow{\text{heat}}
A \xrightarrow{f} B \xleftarrow{g} C
2\mathrm{H}_2 + \mathrm{O}_2 \to 2\mathrm{H}_2\mathrm{O}
\mathrm{d}x
\mathfrak{g}, \mathscr{F}, \mathsf{A}, \mathtt{code}
\mathbf{0} \neq 0
\mathbb{1}_{A}(x)
\boldsymbol{\beta} = (X^\top X)^{-1} X^\top y
\bar{x} = \frac{1}{n} \sum_{i=1}^{n} x_i
\tilde{f}, \dot{x}, \ddot{x}, \check{a}, \breve{a}, \acute{a}, \grave{a}
\overrightarrow{AB} = \vec{b} - \vec{a}
\stackrel{\text{def}}{=}
\overset{!}{=} \underset{x}{\arg\max}\, f(x)
\arg\min_{\theta} L(\theta)
\max_{1 \le i \le n} a_i
\sup_{x \in S} f(x), \inf_{x \in S} f(x)
\limsup_{n \to \infty} a_n = \liminf_{n \to \infty} a_n
\prod_{i=1}^{n} i = n!
\bigcup_{i \in I} A_i, \bigcap_{i \in I} A_i
\bigoplus_{i} V_i \otimes W
a \lll b \ggg c
a \ll b, a \gg b
x \approx y \simeq z \cong w \propto v
\pm, \mp, \times, \div, \cdot, \ast, \star, \circ, \bullet
\leq, \geq, \neq, \equiv, \sim, \prec, \succ
\in, \notin, \ni, \subset, \supset, \emptyset, \varnothing
\alpha\beta\gamma\delta\epsilon\zeta\eta\theta\iota\kappa\lambda\mu
\nu\xi\pi\rho\sigma\tau\upsilon\phi\chi\psi\omega
\Gamma\Delta\Theta\Lambda\Xi\Pi\Sigma\Upsilon\Phi\Psi\Omega
\aleph_0 < 2^{\aleph_0}
\therefore x = 1 \because y = 2
\Rightarrow, \Leftarrow, \Leftrightarrow, \rightarrow, \mapsto, \hookrightarrow, \uparrow
\left( \frac{a}{b} \right), \left[ \frac{a}{b} \right], \left\{ \frac{a}{b} \right\}
\left. \frac{df}{dx} \right|_{x=0}
\bigl( \Bigl( \biggl( \Biggl(
\text{速度} = \frac{\text{距離}}{\text{時間}}
\text{الطاقة} = mc^2
面积 = 长 \times 宽
50\% \text{ of } \$20
\{1, 2, 3\}
x \, y \; z \quad w \qquad v \! u
\hspace{1em} x \phantom{y} z
\begin{matrix} a & b \\ c & d \end{matrix}
\begin{Bmatrix} a \\ b \end{Bmatrix}, \begin{Vmatrix} a \\ b \end{Vmatrix}
\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}
\begin{gathered} a = b \\ c = d \end{gathered}
\begin{split} a &= b \\ &= c \end{split}
\begin{array}{l|c} x & 1 \\ \hline y & 2 \end{array}
\begin{array}{rcl} a & = & b \end{array}
\substack{i < n \\ j < m}
\sum_{\substack{1 \le i \le n \\ i \text{ odd}}} a_i
\not= \not\in
\cancel{x}
\xcancel{x} + \bcancel{y}
\tag{1} a = b
\textbf{Step 1:}\ x = 2
\texttt{len}(x) = n
\textit{note}
\operatorname*{arg\,max}_x f(x)
\mathop{\mathrm{tr}}(A)
\Pr[X = k] = \binom{n}{k} p^k (1-p)^{n-k}
\iint_D f(x, y)\,dA
\int_a^b f(x)\,dx = F(b) - F(a)
\frac{dy}{dx} + P(x)y = Q(x)
y'' + \omega^2 y = 0
x^{(n)} = f(x, x', x'')
\hbar, \ell, \Re(z), \Im(z), \wp
\degree, ^\circ\mathrm{C}
\S, \P, \dagger, \ddagger
\prime, \backslash, \|, \vert, \Vert
\lbrace a \rbrace, \lbrack b \rbrack, \langle c \rangle
{n \choose k}
{a \over b}
\sqrt{1 + \sqrt{1 + \sqrt{1 + x}}}
\frac{\frac{a}{b}}{\frac{c}{d}}
a_{i_{j}}^{k^{l}}
{}_nC_r, {}^{14}_{6}\mathrm{C}
\left\lVert v \right\rVert, \lvert x \rvert
\smash{x} \root 3 \of x
\varliminf x_n \le \varlimsup x_n
\checkmark, \square, \blacksquare, \lozenge
\ce{H2O}
\mathring{A}
\dddot{x}
\underline{a}, \underbar{b}, \overline{AB}
\nearrow, \searrow, \swarrow, \nwarrow
\models, \vdash, \dashv, \top, \bot
\wedge, \vee, \oplus, \otimes, \ominus, \odot
\longrightarrow, \Longrightarrow, \longleftrightarrow, \iff
\colon, \coloneqq, :=
"""
DRAWN = [line for line in _LINES.strip().split("\n") if line.strip()]
