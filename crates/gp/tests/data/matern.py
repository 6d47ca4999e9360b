"""Makes matern.json: python3 matern.py > matern.json"""
import json
import mpmath as mp

mp.mp.dps = 40
def value(nu, r):
    nu, r = mp.mpf(nu), mp.mpf(r)
    z = mp.sqrt(2*nu)*r
    with mp.workdps(80):
        return +(2**(1-nu)/mp.gamma(nu)*z**nu*mp.besselk(nu, z))
nus = [1e-3, 0.05, 0.3, 0.5, 0.75, 0.999, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.7, 9.9, 10.0, 10.1, 17.5, 25.3, 38.6, 50.0]
rs = [1e-300, 1e-200, 1e-100, 1e-50, 1e-20, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.05, 0.099, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0,
      1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0, 75.0, 85.0, 120.0, 200.0, 300.0, 640.0]
rows = []
for nu in nus:
    for r in rs:
        v = value(nu, r)
        if v > mp.mpf('1e-290'):
            rows.append([nu, r, float(v)])
about = ("Matern correlation 2^(1-nu)/Gamma(nu) z^nu K_nu(z), z = sqrt(2 nu) r, "
         "by mpmath at 40 digits or more; rows are nu, r, value")
print(json.dumps({"about": about, "rows": rows}).replace("], [", "],\n["))
