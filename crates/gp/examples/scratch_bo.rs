//! scratch
use manyhands_gp::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::f64::consts::PI;

type F = Box<dyn Fn(&[f64]) -> f64 + Sync + Send>;
struct P { name: &'static str, d: usize, f: F, opt: f64, noise: f64 } // maximize on unit cube

fn h6(x: &[f64]) -> f64 {
    let a=[[10.,3.,17.,3.5,1.7,8.],[0.05,10.,17.,0.1,8.,14.],[3.,3.5,1.7,10.,17.,8.],[17.,8.,0.05,10.,0.1,14.]];
    let p=[[1312.,1696.,5569.,124.,8283.,5886.],[2329.,4135.,8307.,3736.,1004.,9991.],[2348.,1451.,3522.,2883.,3047.,6650.],[4047.,8828.,8732.,5743.,1091.,381.]];
    let c=[1.,1.2,3.,3.2];
    (0..4).map(|i| c[i]*(-(0..6).map(|j| a[i][j]*(x[j]-p[i][j]*1e-4_f64).powi(2)).sum::<f64>()).exp()).sum()
}
fn branin(u:&[f64])->f64{ let (x,y)=(15.*u[0]-5.,15.*u[1]); -((y-5.1/(4.*PI*PI)*x*x+5./PI*x-6.).powi(2)+10.*(1.-1./(8.*PI))*x.cos()+10.) }
fn cosines(u:&[f64])->f64{ 1.-u.iter().map(|x|{let g=1.6*x-0.5; g*g-0.3*(3.*PI*g).cos()}).sum::<f64>() }
fn lin(u:&[f64],lo:f64,hi:f64)->Vec<f64>{u.iter().map(|x|lo+(hi-lo)*x).collect()}
fn ackley(x:&[f64])->f64{let n=x.len() as f64; -(-20.*(-0.2*(x.iter().map(|v|v*v).sum::<f64>()/n).sqrt()).exp()-(x.iter().map(|v|(2.*PI*v).cos()).sum::<f64>()/n).exp()+20.+1f64.exp())}
fn rosen(x:&[f64])->f64{-x.windows(2).map(|w|100.*(w[1]-w[0]*w[0]).powi(2)+(1.-w[0]).powi(2)).sum::<f64>()}
fn levy(x:&[f64])->f64{let w:Vec<f64>=x.iter().map(|v|1.+(v-1.)/4.).collect();let d=w.len(); -((PI*w[0]).sin().powi(2)+w[..d-1].iter().map(|v|(v-1.).powi(2)*(1.+10.*(PI*v+1.).sin().powi(2))).sum::<f64>()+(w[d-1]-1.).powi(2)*(1.+(2.*PI*w[d-1]).sin().powi(2)))}
fn goldstein(x:&[f64])->f64{let (x,y)=(x[0],x[1]);let a=1.+(x+y+1.).powi(2)*(19.-14.*x+3.*x*x-14.*y+6.*x*y+3.*y*y);let b=30.+(2.*x-3.*y).powi(2)*(18.-32.*x+12.*x*x+48.*y-36.*x*y+27.*y*y);-(a*b)}
fn shekel(x:&[f64])->f64{let c=[[4.,4.,4.,4.],[1.,1.,1.,1.],[8.,8.,8.,8.],[6.,6.,6.,6.],[3.,7.,3.,7.],[2.,9.,2.,9.],[5.,3.,5.,3.],[8.,1.,8.,1.],[6.,2.,6.,2.],[7.,3.6,7.,3.6]];let b=[0.1,0.2,0.2,0.4,0.4,0.6,0.3,0.7,0.5,0.5];(0..10).map(|i|1./(b[i]+(0..4).map(|j|(x[j]-c[i][j] as f64).powi(2)).sum::<f64>())).sum()}
fn camel(x:&[f64])->f64{let (x,y)=(x[0],x[1]);-((4.-2.1*x*x+x.powi(4)/3.)*x*x+x*y+(-4.+4.*y*y)*y*y)}
fn problems()->Vec<P>{ vec![
 P{name:"branin",d:2,f:Box::new(branin),opt:-0.397887357729739,noise:0.},
 P{name:"branin+n",d:2,f:Box::new(branin),opt:-0.397887357729739,noise:0.05*51.3},
 P{name:"cosines",d:2,f:Box::new(cosines),opt:1.6,noise:0.},
 P{name:"hart6",d:6,f:Box::new(h6),opt:3.322368011415515,noise:0.},
 P{name:"hart6+n",d:6,f:Box::new(h6),opt:3.322368011415515,noise:0.05*0.385},
 P{name:"forrester",d:1,f:Box::new(|x|-(6.*x[0]-2.).powi(2)*(12.*x[0]-4.).sin()),opt:6.020740055766075,noise:0.},
 P{name:"camel",d:2,f:Box::new(|u|camel(&[6.*u[0]-3.,4.*u[1]-2.])),opt:1.031628453489877,noise:0.},
 P{name:"goldst",d:2,f:Box::new(|u|goldstein(&lin(u,-2.,2.))),opt:-3.,noise:0.},
 P{name:"rosen4",d:4,f:Box::new(|u|rosen(&lin(u,-2.048,2.048))),opt:0.,noise:0.},
 P{name:"ackley5",d:5,f:Box::new(|u|ackley(&lin(u,-10.,20.))),opt:0.,noise:0.},
 P{name:"levy4",d:4,f:Box::new(|u|levy(&lin(u,-8.,10.))),opt:0.,noise:0.},
 P{name:"styb5",d:5,f:Box::new(|u|-0.5*lin(u,-5.,5.).iter().map(|x|x.powi(4)-16.*x*x+5.*x).sum::<f64>()),opt:39.16616570377142*5.,noise:0.},
 P{name:"shekel",d:4,f:Box::new(|u|shekel(&lin(u,0.,10.))),opt:10.536409816692046,noise:0.},
 P{name:"michal5",d:5,f:Box::new(|u|lin(u,0.,PI).iter().enumerate().map(|(i,x)|x.sin()*((i as f64+1.)*x*x/PI).sin().powi(20)).sum()),opt:4.687658179088147,noise:0.},
 P{name:"rastr2",d:2,f:Box::new(|u|-lin(u,-4.12,5.12).iter().map(|x|x*x-10.*(2.*PI*x).cos()+10.).sum::<f64>()),opt:0.,noise:0.},
 P{name:"ackley5+n",d:5,f:Box::new(|u|ackley(&lin(u,-10.,20.))),opt:0.,noise:0.2*1.1},
 P{name:"levy10",d:10,f:Box::new(|u|levy(&lin(u,-8.,10.))),opt:0.,noise:0.},
 P{name:"hart6+N",d:6,f:Box::new(h6),opt:3.322368011415515,noise:1.0*0.385},
]}

struct Cfg { design: usize, lmed: f64, lsd: f64, nmed: f64, nsd: f64, nmin: f64, vara: f64, bends: Vec<f64>, widths: Vec<f64>, batch: usize, evals: usize, cands: usize, starts: usize, mspread: f64, se: bool, knees: Vec<f64>, nlim: f64, asyncm: bool }

fn run(p: &P, cfg: &Cfg, seed: u64) -> (f64, f64) {
    let t0=std::time::Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(seed*7919+17);
    let d=p.d;
    let shift: Vec<f64>=(0..d).map(|_|rng.random::<f64>()).collect();
    let params = sobol::params::JoeKuoD6::minimal();
    let mut sob = sobol::Sobol::<f64>::new(d,&params).skip(1+ (seed as usize%64));
    let mut next = move || -> Vec<f64> { sob.next().unwrap().iter().zip(&shift).map(|(a,b)|(a+b).fract()).collect() };
    let mut xs: Vec<Vec<f64>>=vec![]; let mut ys: Vec<f64>=vec![]; let mut best=f64::NEG_INFINITY;
    let mut eval=|x:Vec<f64>,xs:&mut Vec<Vec<f64>>,ys:&mut Vec<f64>,rng:&mut ChaCha8Rng|{let v=(p.f)(&x); if v>best{best=v;} let e:f64=StandardNormal.sample(rng); ys.push(v+p.noise*e); xs.push(x); best};
    let mut b=0.0;
    for _ in 0..cfg.design.max(cfg.batch) {let x=next(); b=eval(x,&mut xs,&mut ys,&mut rng);}
    let family = if cfg.se {Kernel::squared_exponential(&[1.0]).unwrap()} else {Kernel::matern(2.5,&[1.0]).unwrap()};
    let groups: Vec<usize>=(0..d).collect();
    let mut warm: Vec<Option<Hyperparameters>>=vec![None;cfg.bends.len()];
    let mut pick=0usize;
    while xs.len()<cfg.evals {
        let points=Points::from_rows(&xs).unwrap();
        let mut bestfit: Option<(f64,Warp,Hyperparameters,Vec<f64>)>=None;
        for (bi,&bend) in cfg.bends.iter().enumerate() {
            let warp=Warp::standardizing(&ys,bend,cfg.knees[bi%cfg.knees.len()]);
            let z: Vec<f64>=ys.iter().map(|y|warp.forward(*y)).collect();
            let mut priors=Priors::for_parameters(d);
            priors.lengthscale=(cfg.lmed*(d as f64).sqrt(),cfg.lsd); priors.noise_ratio=(cfg.nmed,cfg.nsd); priors.noise_range.0=cfg.nmin; priors.variance=(cfg.vara,cfg.vara); priors.mean_spread=cfg.mspread;
            let fit=Fit{family:&family,groups:&groups,priors,evaluations:60};
            let h=fit.run(&points,&z,warm[bi].as_ref()).unwrap();
            let lp=h.density+ys.iter().map(|y|warp.log_slope(*y)).sum::<f64>();
            warm[bi]=Some(h.clone());
            if bi==0 || (h.noise/h.variance<cfg.nlim && bestfit.as_ref().is_none_or(|f|lp>f.0)) {bestfit=Some((lp,warp,h,z));}
        }
        let (_,warp,h,z)=bestfit.unwrap();
        if std::env::var("TRACE").is_ok() && xs.len()%15==0 {eprintln!("{} n={} bend {} l {:?} ratio {:.1e} var {:.2} mean {:.2} best {:.2e}",p.name,xs.len(),warp.bend(),h.lengthscales.iter().map(|l|(l*100.).round()/100.).collect::<Vec<_>>(),h.noise/h.variance,h.variance,h.mean,p.opt-b);}
        let prior=h.prior(&family,&groups).unwrap();
        if cfg.nlim>0. && false {}
        let mut post=Posterior::new(prior,d).unwrap();
        for (i,x) in xs.iter().enumerate(){post.observe(Key{id:i as u64,site:0},x,z[i]).unwrap();}
        // candidates
        let mut order: Vec<usize>=(0..xs.len()).collect();
        let fm: Vec<f64>=xs.iter().map(|x|post.predict(x).unwrap().mean).collect();
        order.sort_by(|&a,&b|fm[b].total_cmp(&fm[a]));
        let mut cands: Vec<Vec<f64>>=(0..cfg.cands).map(|_|next()).collect();
        for k in 0..cfg.cands/2 { let c=&xs[order[k%order.len().min(5)]]; let s=[0.3,0.1,0.03,0.01][k%4];
            cands.push(c.iter().enumerate().map(|(j,v)|{let e:f64=StandardNormal.sample(&mut rng);(v+s*h.lengthscales[j].min(1.0)*e).clamp(0.,1.)}).collect()); }
        for &o in order.iter().take(3){cands.push(xs[o].clone());}
        let mut newx=vec![];
        let m = if cfg.asyncm {1} else {cfg.batch};
        for _ in 0..m {
            let w=cfg.widths[pick%cfg.widths.len()]; pick+=1;
            let mut sc: Vec<(f64,usize)>=cands.iter().enumerate().map(|(i,c)|{let m=post.predict(c).unwrap();(m.mean+w*m.sd,i)}).collect();
            sc.sort_by(|a,b|b.0.total_cmp(&a.0));
            // diverse starts
            let mut starts: Vec<usize>=vec![];
            for (_,i) in &sc { if starts.iter().all(|&s|{let r:f64=(0..d).map(|j|((cands[s][j]-cands[*i][j])/h.lengthscales[j]).powi(2)).sum(); r>0.05}) {starts.push(*i);} if starts.len()>=cfg.starts {break;} }
            let mut slopes=Slopes::new(post.view());
            let mut bestp: Option<Peak>=None;
            for s in starts { let pk=climb(&cands[s],&vec![(0.0,1.0);d],60,|x,g|{let s=slopes.at(x).unwrap(); let sd=s.variance.max(1e-300).sqrt(); for j in 0..d {g[j]=s.mean_gradient[j]+w*s.variance_gradient[j]/(2.*sd);} s.mean+w*sd}); if bestp.as_ref().is_none_or(|b|pk.value>b.value){bestp=Some(pk);} }
            let x=bestp.unwrap().point;
            post.hallucinate(Key{id:(1000+pick) as u64,site:0},&x).unwrap();
            newx.push(x);
        }
        if std::env::var("TRACE").is_ok() && xs.len()>=cfg.evals-cfg.batch { eprintln!("{} seed {} bend {} greedy regret {:.2e} best {:.2e} l {:?} ratio {:.1e} true {:.1e}; picks {:?}",p.name,seed,warp.bend(),p.opt-(p.f)(&newx[0]),p.opt-b,h.lengthscales,h.noise/h.variance, (p.noise/51.3).powi(2), newx.iter().map(|x|((p.opt-(p.f)(x))*100.).round()/100.).collect::<Vec<_>>()); }
        for x in newx { b=eval(x,&mut xs,&mut ys,&mut rng); }
    }
    ((p.opt-b).abs().max(1e-12).log10(), t0.elapsed().as_secs_f64())
}
fn main(){
    let mut cfg=Cfg{design:5,lmed:0.4,lsd:0.7,nmed:1e-4,nsd:3.,nmin:1e-8,vara:2.,bends:vec![0.],widths:vec![0.3,1.,2.,3.,1.5],batch:5,evals:60,cands:500,starts:4,mspread:1.,se:false,knees:vec![0.],nlim:1e9,asyncm:false};
    let mut seeds=12u64; let mut only=String::new();
    for a in std::env::args().skip(1){ let (k,v)=a.split_once('=').unwrap(); let fl=||v.parse::<f64>().unwrap(); let ls=||v.split(',').map(|x|x.parse::<f64>().unwrap()).collect::<Vec<_>>();
        match k {"design"=>cfg.design=fl() as usize,"lmed"=>cfg.lmed=fl(),"lsd"=>cfg.lsd=fl(),"nmed"=>cfg.nmed=fl(),"nsd"=>cfg.nsd=fl(),"nmin"=>cfg.nmin=fl(),"vara"=>cfg.vara=fl(),"bends"=>cfg.bends=ls(),"widths"=>cfg.widths=ls(),"batch"=>cfg.batch=fl() as usize,"evals"=>cfg.evals=fl() as usize,"cands"=>cfg.cands=fl() as usize,"starts"=>cfg.starts=fl() as usize,"mspread"=>cfg.mspread=fl(),"nlim"=>cfg.nlim=fl(),"knees"=>cfg.knees=ls(),"se"=>cfg.se=fl()>0.,"async"=>cfg.asyncm=fl()>0.,"seeds"=>seeds=fl() as u64,"only"=>only=v.to_string(),_=>panic!("{k}")} }
    let mut tot=0.0; let ps=problems();
    for p in ps.iter().filter(|p|only.is_empty()||only.split(',').any(|o|o==p.name)) {
        let mut r: Vec<(f64,f64)>=(0..seeds).into_par_iter().map(|s|run(p,&cfg,s)).collect();
        r.sort_by(|a,b|a.0.total_cmp(&b.0)); let n=r.len();
        let med=0.5*(r[n/2].0+r[(n-1)/2].0); tot+=med;
        println!("{:10} {:6.2} [{:5.2} {:5.2}] {:.2}s",p.name,med,r[n/4].0,r[3*n/4].0,r.iter().map(|x|x.1).sum::<f64>()/n as f64);
    }
    println!("total {tot:.2}");
}
